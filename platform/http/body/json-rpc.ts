import { validationError } from '../../errors/app-error';
import { parseBoundedJson } from '../../json/bounded';

const limits = { depth: 48, values: 50_000, nameLength: 1_024 };

/** The JSON of a message of JSON-RPC. @throws AppError 400 for what is no JSON, or nested deeper or wider than any message */
export function parseJsonRpc(body: Buffer): unknown {
  try {
    return parseBoundedJson(body.toString('utf8'), limits);
  } catch (error) {
    throw validationError([{ path: '', message: `is no JSON that is accepted: ${(error as Error).message}` }]);
  }
}
