import Ajv2020, { type ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import { plantsOpenApi } from '../../services/plants/openapi';

const document = plantsOpenApi();
const ajv = new Ajv2020({ strict: true, strictTypes: false, keywords: ['components'] });
addFormats(ajv);
ajv.addSchema({ $id: 'document', components: document.components });
const validators = new Map<string, ValidateFunction>();
/** Expects that a value is what the document describes under a name. */
export const complies = (name: string, value: unknown): void => {
  const validate = validators.get(name) ?? ajv.compile({ $ref: `document#/components/schemas/${name}` });
  validators.set(name, validate);
  expect({ valid: validate(value), errors: validate.errors }).toEqual({ valid: true, errors: null });
};

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  body: any; // eslint-disable-line @typescript-eslint/no-explicit-any -- whatever the service answers
}

export type PlantsRequest = [method: string, path: string, body?: string | Buffer<ArrayBuffer>];

export interface CallOptions {
  token?: string;
  headers?: Record<string, string>;
}

/** Calls the service, and checks its response against the document. */
export async function callPlants(
  url: string,
  [method, path, body]: PlantsRequest,
  { token = 'the-token-of-ann-0000000', headers = {} }: CallOptions = {},
): Promise<Answer> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json', ...headers },
    ...(body === undefined ? {} : { body }),
  });
  const text = await response.text();
  const answer = {
    status: response.status,
    headers: response.headers,
    text,
    body: text === '' ? undefined : JSON.parse(text),
  };
  if (response.status >= 400) {
    complies('Error', answer.body);
    expect(answer.body.error).toBe(response.status);
  } else if (path.startsWith('/plants') && method === 'GET') {
    for (const plant of answer.body) {
      complies('Plant', plant);
    }
  } else if (method === 'POST') {
    complies('Plant', answer.body);
  }
  return answer;
}
