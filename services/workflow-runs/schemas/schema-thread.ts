/** The thread that checks JSON against JSON schemas: the entry point that `schema-checker.ts` starts. */
import Ajv, { type ErrorObject, type ValidateFunction } from 'ajv';
import Ajv2019 from 'ajv/dist/2019';
import Ajv2020 from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { JsonLimitError } from '../../../platform/json/bounded';
import { parseStorableJson } from '../../../platform/json/storable';
import { cut } from '../../../platform/text/cut';

/** A schema alone is checked for being one. */
export interface ToCheck {
  schema: object;
  text?: string;
}

/** What is wrong with the schema, or with the text; its value when it fits, and nothing for a schema alone. */
export type Checked = { wrongSchema: string } | { problems: string[] } | { value?: unknown };

const maxProblems = 10;
const longestProblem = 300;

const dialects = [
  { name: /draft-0[67]/, of: Ajv },
  { name: /2019-09/, of: Ajv2019 },
] as const;

/** The rules of a schema's `$schema`; those of 2020-12 without one. */
function compile(schema: object): ValidateFunction {
  const declared = '$schema' in schema ? String(schema.$schema) : '';
  const { of: Dialect } = dialects.find(({ name }) => name.test(declared)) ?? { of: Ajv2020 };
  const ajv = new Dialect({ strict: false, allErrors: true, logger: false });
  addFormats(ajv);
  return ajv.compile(schema);
}

const problemOf = ({ instancePath, message = 'does not fit', params }: ErrorObject): string => {
  const allowed = 'allowedValues' in params ? `: ${JSON.stringify(params.allowedValues)}` : '';
  const extra = 'additionalProperty' in params ? `: ${JSON.stringify(params.additionalProperty)}` : '';
  return cut(`${instancePath || 'the value'} ${message}${allowed}${extra}`, longestProblem);
};

/** The JSON of a text, or why it is none that can be stored. */
function read(text: string): { value: unknown } | { problem: string } {
  try {
    return { value: parseStorableJson(text) };
  } catch (error) {
    return { problem: error instanceof JsonLimitError ? error.message : 'it is not JSON' };
  }
}

export default function check({ schema, text }: ToCheck): Checked {
  let validate: ValidateFunction;
  try {
    validate = compile(schema);
  } catch (error) {
    return { wrongSchema: cut(error instanceof Error ? error.message : String(error), longestProblem) };
  }
  if (text === undefined) {
    return {};
  }
  const json = read(text);
  if ('problem' in json) {
    return { problems: [json.problem] };
  }
  const { value } = json;
  return validate(value) ? { value } : { problems: (validate.errors ?? []).slice(0, maxProblems).map(problemOf) };
}
