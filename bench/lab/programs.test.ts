import { expect, it, vi } from "vitest";
import { buildNetpath } from "./programs.ts";

it("says in one sentence that it takes root, before it does anything", async () => {
  vi.spyOn(process, "getuid").mockReturnValue(1000);
  await expect(buildNetpath()).rejects.toThrow(/^[^.]*only root may make: use sudo\.$/);
  vi.restoreAllMocks();
});
