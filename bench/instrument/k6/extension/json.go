package extension

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/grafana/sobek"
)

// Values cross between the script and Go as JSON, so that both sides see what stands in plan.ts.

func toJSON(value sobek.Value) ([]byte, error) {
	object, ok := value.(*sobek.Object)
	if !ok {
		return nil, errors.New("the argument must be an object")
	}
	return object.MarshalJSON()
}

// fromJS reads an object. Without a value the target stays as it is. Strict, a name that Go does not know is an error:
// for what is written by hand. A plan may have notes of the driver's own.
func fromJS(value sobek.Value, into any, strict bool) error {
	if value == nil || sobek.IsUndefined(value) {
		return nil
	}
	text, err := toJSON(value)
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if strict {
		decoder.DisallowUnknownFields()
	}
	if err := decoder.Decode(into); err != nil {
		return fmt.Errorf("the argument is not as it should be: %w", err)
	}
	return nil
}

func toJS(runtime *sobek.Runtime, value any) (sobek.Value, error) {
	text, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	parse, ok := sobek.AssertFunction(runtime.Get("JSON").ToObject(runtime).Get("parse"))
	if !ok {
		return nil, errors.New("the script has replaced JSON.parse")
	}
	return parse(sobek.Undefined(), runtime.ToValue(string(text)))
}
