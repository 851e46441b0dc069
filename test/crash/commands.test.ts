import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findByEnvironment } from '../../platform/processes/identity';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { type Answer, scriptAgent } from '../support/caller';
import { aRepository } from '../support/git/repository';
import { kill } from '../support/processes/kill';
import { persistently } from '../support/processes/persistently';
import { type Service, startService } from '../support/stack/service';
import type { Launched } from './runs';

/** A command as a caller sends it, and the response once there is a definite one. */
interface SentCommand {
  taskId: string;
  attemptId: string;
  verb: 'message' | 'conversation/steer' | 'conversation/interrupt';
  message?: string;
  key: string;
  answer?: Answer;
}

/** More than the pipe of an agent holds that does not read it. */
const steers = 13;
const long = 19_000;

let files: TempDir;
let witness: string;
let gate: string;
let service: Service;

beforeAll(async () => {
  files = await makeTempDir('crash-commands');
  witness = join(files.path, 'witness');
  gate = join(files.path, 'gate');
  writeFileSync(witness, '');
  service = await startService({ WITNESS: witness, GATE: gate, BOARD_RUN_RETRIES: '0' });
  await service.call.addRepository('sample', await aRepository(files.path));
  await service.call.configureAgents([{ ...scriptAgent('gated-listener'), environmentKeys: ['WITNESS', 'GATE'] }]);
});

afterAll(async () => {
  await service.close();
  await files.remove();
});

/** What the agent of an attempt has read, in its own words. */
const receivedBy = (attemptId: string): string[] =>
  readFileSync(witness, 'utf8')
    .split('\n')
    .filter((line) => line.startsWith(`${attemptId} `))
    .map((line) => line.slice(attemptId.length + 1));

/** Sends it under its key until there is a definite response, as a caller does that may not lose it. */
async function sendCommand(sent: SentCommand): Promise<void> {
  sent.answer = await persistently(async () => {
    const { taskId, attemptId, verb, message } = sent;
    const body = { attemptId, ...(message === undefined ? {} : { message }) };
    const answer = await service.call.post(`/api/agents/${taskId}/${verb}`, body, { 'x-idempotency-key': sent.key });
    if (answer.status >= 500) {
      throw new Error(`${sent.key}: ${answer.status}`);
    }
    return answer;
  });
}

async function launch(index: number, part: string): Promise<Launched> {
  const task = await service.call.createTask({ title: `Run ${index}`, git: { repo: 'sample' } });
  const { attemptId } = await persistently(() =>
    service.call.start(task.id, {}, { 'x-idempotency-key': `commanded-${part}-${index}` }),
  );
  await eventually(() => expect(receivedBy(attemptId)).toContain('start'));
  return { taskId: task.id, attemptId };
}

/** Enough for an agent that does not read to leave some of it in flight, and some of it waiting for its turn. */
const conversationWith = ({ taskId, attemptId }: Launched): SentCommand[] => {
  const whom = { taskId, attemptId };
  return [
    ...Array.from({ length: steers }, (_, index) => ({
      ...whom,
      verb: 'conversation/steer' as const,
      message: `steer-${index}${' '.repeat(long)}`,
      key: `${attemptId}-steer-${index}`,
    })),
    { ...whom, verb: 'message', message: 'and this', key: `${attemptId}-message` },
    { ...whom, verb: 'conversation/interrupt', key: `${attemptId}-interrupt` },
  ];
};

/** Waits until each agent was handed something, and something is on its way to each that goes no further. */
async function stuck(sentOf: SentCommand[][]): Promise<void> {
  const answered = () => sentOf.map((each) => each.filter(({ answer }) => answer !== undefined).length);
  const statuses = () => sentOf.map((each) => each.map(({ answer }) => answer?.status ?? '-').join(' '));
  let before: number[] = [];
  await eventually(
    () => {
      const now = answered();
      const still = JSON.stringify(now) === JSON.stringify(before);
      before = now;
      const partly = now.every((count, index) => count > 0 && count < (sentOf[index]?.length ?? 0));
      expect({ still, partly, statuses: statuses() }).toMatchObject({ still: true, partly: true });
    },
    { everyMs: 400 },
  );
}

/** What the agent would have read of it. */
const asReceived = ({ verb, message }: SentCommand) => `${verb.split('/').at(-1)} ${(message ?? '').trim()}`;

describe.each([
  ['worker', 7, ['interrupted']],
  ['api', 7, ['partial']],
  ['agent', 6, ['failed']],
] as const)('kill -9 of the %s while commands are in flight to %d runs', (part, runs, ends) => {
  beforeEach(() => rmSync(gate, { force: true }));

  test('each has one definite answer and reached its agent at most once, and the run ends once', async () => {
    const launched = await Promise.all(Array.from({ length: runs }, (_, index) => launch(index, part)));
    const sentOf = launched.map(conversationWith);
    const sending = Promise.all(sentOf.flat().map(sendCommand));
    await stuck(sentOf);

    if (part === 'agent') {
      const agents = await Promise.all(
        launched.map(({ attemptId }) => findByEnvironment('BOARD_ATTEMPT_ID', attemptId)),
      );
      for (const { pid } of agents.flat()) {
        kill(pid);
      }
    } else {
      process.kill(service.pids()[part]!, 'SIGKILL');
      writeFileSync(gate, '');
    }
    await sending;

    for (const [index, { taskId, attemptId }] of launched.entries()) {
      const status = await service.call.ended(taskId);
      expect(ends).toContain(status.attempt.completion.status);
      expect(status.attemptId).toBe(attemptId);
      const events = await service.call.events(taskId, attemptId);
      expect(events.map(({ sequence }) => sequence)).toEqual(events.map((_, position) => position + 1));
      expect(events.filter(({ kind }) => /^run\.(completed|failed|interrupted)$/.test(kind))).toHaveLength(1);
      expect(await findByEnvironment('BOARD_ATTEMPT_ID', attemptId)).toEqual([]);
      for (const sent of sentOf[index] ?? []) {
        expectOnce(sent, receivedBy(attemptId), events);
      }
    }
    expect(sentOf.flat().some(({ answer }) => answer?.body.delivered === true)).toBe(true);

    // Sent again, also now, each has the same response.
    for (const sent of sentOf.flat()) {
      const first = sent.answer;
      await sendCommand(sent);
      expect({ key: sent.key, status: sent.answer?.status, body: comparable(sent.answer) }).toEqual({
        key: sent.key,
        status: first?.status,
        body: comparable(first),
      });
    }
  });
});

/** A response without what differs from request to request. */
function comparable(answer: Answer | undefined): unknown {
  const { replayed: _mark, ...outcome } = answer?.body ?? {};
  return answer?.status === 200 ? outcome : outcome.code;
}

/** The response is definite and true: what was not delivered was not read, and nothing was read or recorded twice. */
function expectOnce(sent: SentCommand, received: string[], events: Answer['body'][]): void {
  const { answer } = sent;
  const times = received.filter((line) => line === asReceived(sent)).length;
  expect(times).toBeLessThanOrEqual(1);
  if (answer?.status === 409) {
    expect(answer.body.code).toBe('RUN_ENDED');
    expect(times).toBe(0);
    return;
  }
  expect({ key: sent.key, status: answer?.status }).toEqual({ key: sent.key, status: 200 });
  const { delivered, reason, commandId } = answer?.body ?? {};
  expect({ delivered, reason }).toEqual(
    delivered ? { delivered, reason: undefined } : { delivered, reason: expect.any(String) },
  );
  if (!delivered && reason !== 'outcome-unknown') {
    expect({ reason, times }).toEqual({ reason, times: 0 });
  }
  const reported = events.filter(({ payload }) => payload.commandId === commandId);
  expect(reported.length).toBeLessThanOrEqual(1);
  if (delivered) {
    expect(reported).toHaveLength(1);
  }
}
