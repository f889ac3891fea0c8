/** A Go module of this repository. */
export interface GoModule {
  readonly folder: string;
  /** The packages that `npm run check` vets and `npm test` tests. */
  readonly packages: readonly string[];
}

export const GO_MODULES: readonly GoModule[] = [
  { folder: "infra/edge", packages: ["./..."] },
  { folder: "infra/e2e/h2spec", packages: ["./..."] },
  { folder: "infra/faults/peer", packages: ["./..."] },
  { folder: "bench/instrument/netpath", packages: ["./..."] },
  // Without the packages that import k6, which takes minutes to compile, and ./e2e, which runs the built k6: `npm run
  // test:bench` builds and runs that.
  { folder: "bench/instrument/k6", packages: ["./altsvc", "./session", "./load", "./testsite"] },
];

/** The module whose go.mod pins the formatter. */
export const TOOLS_MODULE = "infra/edge";
