import fc from 'fast-check';
import type { RunEvent } from '../contracts/runs/event';
import { aContractInput } from '../test/support/factories/contract';
import { factoryTime } from '../test/support/factories/task';
import { compileContract } from './contract';
import { runLogChunk, runLogHeader } from './run-log';

const event = (kind: RunEvent['kind'], payload: Record<string, unknown>) =>
  ({ sequence: 7, receivedAt: factoryTime, kind, payload }) as RunEvent;

describe('run log', () => {
  test('the head names what was launched', () => {
    const { runLaunchManifest } = compileContract(aContractInput());
    const head = runLogHeader({
      attemptId: 'attempt_aaaaaaaa',
      taskId: 'task_20260101_aaaaaa',
      agent: 'bee',
      provider: 'process',
      createdAt: factoryTime,
      createdBy: 'user:ann',
      commitPolicy: 'allowed',
      runLaunchManifest,
    });
    expect(head).toContain('# Run attempt_aaaaaaaa');
    for (const digest of [runLaunchManifest.digest, runLaunchManifest.taskEnvelope.digest]) {
      expect(head).toContain(digest);
    }
  });

  test.each([
    ['progress', { message: 'Reading', percent: 10 }, '- `7` 2026-01-01T00:00:00.000Z **progress**: `Reading`\n'],
    ['run.started', {}, '- `7` 2026-01-01T00:00:00.000Z **run.started**\n'],
    ['usage.updated', { inputTokens: 1 }, '- `7` 2026-01-01T00:00:00.000Z **usage.updated**: `{"inputTokens":1}`\n'],
  ] as const)('%s is a line', (kind, payload, line) => {
    expect(runLogChunk(event(kind, payload))).toBe(line);
  });

  test('what an agent prints cannot pass for a part of the log', () => {
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom('`', '\n', '#', ' ', 'a', '- ') }), (text) => {
        const chunk = runLogChunk(event('stream.stdout', { text }));
        const [head = '', ...lines] = chunk.split('\n');
        expect(head.startsWith('- `7` ')).toBe(true);
        // Every further line is indented, and the fence around them is longer than any in them.
        expect(lines.every((line) => line === '' || line.startsWith('  '))).toBe(true);
      }),
    );
  });

  test('long texts are cut', () => {
    expect(runLogChunk(event('stream.stdout', { text: 'x'.repeat(50_000) })).length).toBeLessThan(2_200);
  });

  test('what an agent prints does nothing to a terminal that shows the log', () => {
    const evil = '\u001b]0;owned\u0007\u001b[2J\u009b1A\u202Eevil\u001b[0m';
    const reported = [
      runLogChunk(event('stream.stdout', { text: `${evil}\nsecond ${evil}` })),
      runLogChunk(event('progress', { message: evil })),
      runLogChunk(event('usage.updated', { [evil]: evil })),
    ].join('');
    expect(reported).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e]/);
    expect(reported).toContain('second evil');
  });
});
