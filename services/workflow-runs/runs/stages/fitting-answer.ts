import { AppError } from '../../../../platform/errors/app-error';
import type { CallOptions, Models } from '../../../../platform/models/models';
import type { ModelRequest } from '../../../../platform/models/request';
import { completeStructured, type StructuredAnswer } from '../../completions/structured';
import { maxJsonOutput } from '../../graph/graph';
import type { SchemaChecker } from '../../schemas/schema-checker';

/** A model's answers do not fit the schema of its prompt. */
export class MisfitError extends Error {
  override readonly name = 'MisfitError';

  constructor(
    message: string,
    /** Whether another answer may fit. */
    readonly retryable: boolean,
  ) {
    super(message);
  }
}

/**
 * Asks a model; with a schema for JSON that fits it, which a model that answers otherwise is asked for once more.
 *
 * @throws MisfitError when neither answer fits; ModelError when the model does not answer; AppError 429 when too much is checked
 */
export async function completeFitting(
  dependencies: { models: Models; schemas: SchemaChecker },
  { schema, ...request }: ModelRequest,
  options: Pick<CallOptions, 'signal' | 'timeoutMs'>,
): Promise<StructuredAnswer> {
  if (schema === undefined) {
    return { answer: await dependencies.models.complete(request, options) };
  }
  try {
    const fitting = await completeStructured(dependencies, { ...request, schema }, options);
    if (fitting.answer.text.length > maxJsonOutput) {
      throw new MisfitError(`The answer has more than ${maxJsonOutput} characters.`, true);
    }
    return fitting;
  } catch (error) {
    if (error instanceof AppError && error.status !== 429) {
      throw new MisfitError(error.message, error.status === 502);
    }
    throw error;
  }
}
