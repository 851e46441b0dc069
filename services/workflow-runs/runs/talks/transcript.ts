import type { Message } from '../../../../platform/models/message';
import type { StageMessage } from '../execution/turns';
import type { Talk, TalkTurn } from './store';

const text = (data: string) => ({ kind: 'text' as const, data });

/** A talk as a model is sent it. */
export function talkMessages({ prompt, turns }: Pick<Talk, 'prompt' | 'turns'>): Message[] {
  return [{ role: 'user', content: [text(prompt)] }, ...turns.flatMap(turnMessages)];
}

/** A turn with calls as a model is sent it. */
export function turnMessages({
  text: answer,
  thinking,
  toolCalls,
  results,
}: Pick<TalkTurn, 'text' | 'thinking' | 'toolCalls' | 'results'>): Message[] {
  return [
    {
      role: 'assistant',
      content: [
        ...thinking.map((data) => ({ kind: 'thinking' as const, data })),
        ...(answer === '' ? [] : [text(answer)]),
        ...toolCalls.map((data) => ({ kind: 'tool_call' as const, data })),
      ],
    },
    {
      role: 'tool',
      content: results.map(({ callId, content, isError }) => ({
        kind: 'tool_result' as const,
        data: { tool_call_id: callId, content, is_error: isError },
      })),
    },
  ];
}

/** A talk as readers of its stage see it. */
export function talkTurns({ prompt, system, turns }: Talk): StageMessage[] {
  return [
    ...(system === undefined ? [] : [{ kind: 'system' as const, content: system }]),
    { kind: 'user', content: prompt },
    ...turns.flatMap(({ text: content, toolCalls, results, answer }): StageMessage[] => [
      ...(content === '' ? [] : [{ kind: 'assistant' as const, content }]),
      ...(toolCalls.length === 0
        ? []
        : [
            {
              kind: 'tool' as const,
              tools: toolCalls.map(({ id, name, arguments: values }) => {
                const asked = answer.calls.find((each) => each.id === id);
                const result = results.find(({ callId }) => callId === id);
                return {
                  id,
                  tool_name: asked && asked.server !== '' ? `${asked.server}/${asked.tool}` : name,
                  input: JSON.stringify(values ?? null),
                  result: JSON.stringify(result?.content ?? null),
                  is_error: result?.isError ?? false,
                };
              }),
            },
          ]),
    ]),
  ];
}
