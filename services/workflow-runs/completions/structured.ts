import { maxMessages } from '../../../platform/models/message';
import type { CallOptions, Models } from '../../../platform/models/models';
import type { ModelAnswer, ModelRequest } from '../../../platform/models/request';
import { refuse } from '../http/errors';
import type { SchemaChecker } from '../schemas/schema-checker';
import { addedUsage } from '../usage/sum';

/** An answer, and the JSON in it; none for one that calls tools instead. */
export interface StructuredAnswer {
  answer: ModelAnswer;
  output?: unknown;
}

/**
 * Asks a model for JSON that fits the schema of a request. An answer that does not is sent back once, with what is wrong.
 *
 * @throws ModelError when the model does not answer; AppError 502 when its answers do not fit, 422 and 429 of the checker
 */
export async function completeStructured(
  { models, schemas }: { models: Models; schemas: SchemaChecker },
  request: ModelRequest & { schema: object },
  options: Pick<CallOptions, 'signal' | 'timeoutMs'>,
): Promise<StructuredAnswer> {
  const { schema, messages } = request;
  await schemas.assertSchema(schema);
  const first = await models.complete(request, options);
  if (first.toolCalls.length > 0) {
    return { answer: first };
  }
  const fit = await schemas.check(schema, first.text);
  if ('value' in fit) {
    return { answer: first, output: fit.value };
  }
  if (first.stopReason !== 'end_turn' || messages.length + 2 > maxMessages) {
    throw misfit(first, fit.problems);
  }
  const repair = repairOf(first.text, fit.problems);
  const second = await models.complete({ ...request, messages: [...messages, ...repair] }, options);
  const answer = { ...second, usage: addedUsage(first.usage, second.usage) };
  const again = await schemas.check(schema, second.text);
  if ('value' in again) {
    return { answer, output: again.value };
  }
  throw misfit(second, again.problems, ', also when asked again');
}

const text = (data: string) => [{ kind: 'text' as const, data }];

/** The model's own answer, and what is wrong with it. */
const repairOf = (answer: string, problems: readonly string[]): ModelRequest['messages'] => [
  ...(answer === '' ? [] : [{ role: 'assistant' as const, content: text(answer) }]),
  {
    role: 'user',
    content: text(
      `Your answer does not fit the JSON schema:\n${problems.map((each) => `- ${each}`).join('\n')}\nAnswer with JSON that fits it, and nothing else.`,
    ),
  },
];

function misfit({ stopReason }: ModelAnswer, problems: readonly string[], when = '') {
  if (stopReason === 'max_tokens') {
    return refuse(502, 'LLM error: the answer was cut at the limit of tokens before its JSON was complete.');
  }
  const stopped = stopReason === 'end_turn' ? '' : `, and ended with ${stopReason}`;
  return refuse(502, `LLM error: the answer does not fit the schema${when}${stopped}: ${problems.join('; ')}`);
}
