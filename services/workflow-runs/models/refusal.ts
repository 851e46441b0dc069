import type { AppError } from '../../../platform/errors/app-error';
import { ModelError } from '../../../platform/models/errors';
import { refuse } from '../http/errors';

/** The refusal for a model that brought no answer; what is not a failure of a model is thrown on. */
export function refusalOf(error: unknown): AppError {
  if (!(error instanceof ModelError)) {
    throw error;
  }
  switch (error.kind) {
    case 'unknown':
      return refuse(404, error.message);
    case 'unsupported':
      return refuse(422, error.message);
    default:
      return refuse(502, `LLM error: ${error.message}`);
  }
}
