import type { RunEvent } from '../../contracts/runs/event';
import { egressEventName } from '../../domain/sandbox/network';
import type { AttemptRecord } from '../../stores/runs/attempt-store';
import { usageOfRun } from './usage';

const record = { _id: 'attempt_1', retryNumber: 0 } as AttemptRecord;
const toolCalls = async (...events: [kind: string, name: string][]) => {
  const all = events.map(([kind, name], index) => ({ kind, payload: { name }, sequence: index + 1 }));
  const read = async () => all as unknown as RunEvent[];
  return (await usageOfRun({ events: { read }, requests: { get: async () => undefined } }, record)).toolCalls;
};

describe('tool calls of a goal', () => {
  it('are those that were reported as begun, or as done', async () => {
    expect(await toolCalls(['tool.started', 'a'], ['tool.completed', 'a'])).toBe(1);
    expect(await toolCalls(['tool.completed', 'a'], ['command.completed', 'b'])).toBe(2);
  });

  it('are not what left the sandbox', async () => {
    expect(await toolCalls(['tool.started', 'a'], ['tool.completed', 'a'], ['tool.completed', egressEventName])).toBe(
      1,
    );
  });
});
