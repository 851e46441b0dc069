import { randomUUID } from 'node:crypto';
import { eventually } from '../../../platform/testing/eventually';
import { type ApiUnderTest, startWholeTestApi } from '../../api/api-under-test';
import { agent, type VersionedRecord, versionedRecords } from '../../api/http/versioned-records';
import { creates, makeSubjects, type Subjects } from '../../api/idempotency/creates';
import { storedRowsOf } from '../../api/idempotency/stored-rows';
import type { Answer } from '../../support/caller';
import { persistently } from '../../support/processes/persistently';
import { killPart, type Service, soonAgain, startService } from '../../support/stack/service';

/** Responses between two kills of the API; what is in flight then is cut off. */
const responsesBetweenKills = 8;

let service: Service;
beforeAll(async () => {
  service = await startService({}, { restart: soonAgain });
});
afterAll(() => service.close());

/** Runs all calls at once, kills the API after some of their responses, and returns those that there were. */
async function untilKilled<K>(calls: ReadonlyMap<K, () => Promise<Answer>>): Promise<Map<K, Answer>> {
  const responses = new Map<K, Answer>();
  const kill = Math.min(responsesBetweenKills, Math.ceil(calls.size / 2));
  await Promise.all(
    [...calls].map(async ([name, call]) => {
      const answer = await call().catch(() => undefined);
      const isServed = answer && answer.status !== 503 && answer.body?.code !== 'IDEMPOTENCY_KEY_IN_USE';
      if (isServed) {
        responses.set(name, answer);
      }
      if (isServed && responses.size === kill) {
        killPart(service, 'api');
      }
    }),
  );
  await persistently(() => service.call.ok('GET', '/api/health'));
  return responses;
}

const noServer: Pick<ApiUnderTest, 'call'> = {
  call: async (method, path, { body } = {}) => persistently(() => service.call.send(method, path, body)),
};

/** How many rows each collection has more. */
const added = (before: Record<string, number>, after: Record<string, number>): Record<string, number> =>
  Object.fromEntries(
    Object.entries(after)
      .map(([name, count]): [string, number] => [name, count - (before[name] ?? 0)])
      .filter(([, count]) => count !== 0),
  );

/** The rows that the creates add where nothing dies. */
async function rowsOfAll(): Promise<Record<string, number>> {
  const board = await startWholeTestApi();
  try {
    const subjects = await makeSubjects(board, 'Subject');
    const before = storedRowsOf(board.dataDir);
    for (const [name, create] of Object.entries(creates)) {
      const [path, body] = create(subjects);
      const { status } = await board.call('POST', path, { body, headers: { 'Idempotency-Key': randomUUID() } });
      expect([name, status < 300]).toEqual([name, true]);
    }
    return added(before, storedRowsOf(board.dataDir));
  } finally {
    await board.close();
  }
}

describe('kill -9 of the API while records of every kind are created', () => {
  it('loses none that was acknowledged, and creates each once when its creation is repeated', async () => {
    const expected = await rowsOfAll();
    const subjects: Subjects = await makeSubjects(noServer, 'Subject');
    const before = storedRowsOf(service.dataDir);
    const requests = new Map(
      Object.entries(creates).map(([name, create]) => {
        const [path, body] = create(subjects);
        const key = { 'idempotency-key': randomUUID() };
        return [name, () => service.call.send('POST', path, body, key)] as const;
      }),
    );
    const created = new Map<string, Answer>();
    let kills = 0;
    for (; created.size < requests.size; kills += 1) {
      const waiting = new Map([...requests].filter(([name]) => !created.has(name)));
      for (const [name, answer] of await untilKilled(waiting)) {
        expect([name, answer.status < 300, answer.body]).toEqual([name, true, expect.anything()]);
        created.set(name, answer);
      }
    }
    expect(kills).toBeGreaterThan(3);
    for (const [name, request] of requests) {
      const { status, body } = await persistently(request);
      expect([name, status, body]).toEqual([name, created.get(name)?.status, created.get(name)?.body]);
    }
    await eventually(() => {
      const rows = added(before, storedRowsOf(service.dataDir));
      expect(Object.fromEntries(Object.keys(expected).map((name) => [name, rows[name]]))).toEqual(expected);
    });
  });
});

describe('kill -9 of the API while versioned records are changed', () => {
  const records = Object.entries(versionedRecords);
  const paths = new Map<VersionedRecord, string>();

  beforeAll(async () => {
    await persistently(() => service.call.configureAgents([agent('one')]));
    const { id: taskId } = await persistently(() => service.call.createTask({ title: 'Produces' }));
    for (const [, record] of records) {
      const { at } = record;
      if (typeof at === 'string') {
        paths.set(record, at);
        continue;
      }
      const path = at.make[0].replace('{taskId}', taskId);
      const made = await persistently(() => service.call.ok('POST', path, at.make[1]));
      paths.set(record, at.path?.(made) ?? `${path}/${made.id}`);
    }
  });

  const write = (record: VersionedRecord, name: string, expected?: number): Promise<Answer> =>
    service.call.send(
      record.method,
      paths.get(record) ?? '',
      record.write(name),
      expected === undefined ? {} : { 'x-resource-revision': String(expected) },
    );
  const revisionOf = ({ headers }: Answer): number => Number(headers.get('x-resource-revision'));

  it('loses no change that was acknowledged, and has each other one whole or not at all', async () => {
    const known = new Map<string, Answer>();
    for (const [name, record] of records) {
      const first = await persistently(() => write(record, 'first'));
      expect([name, first.status]).toEqual([name, 200]);
      known.set(name, first);
    }
    for (let round = 1; round <= 6; round += 1) {
      const text = `round-${'x'.repeat(round)}`;
      const sent = new Map(records.map(([name, record]) => [name, () => write(record, text)]));
      const acknowledged = await untilKilled(sent);
      for (const [name, record] of records) {
        const last = acknowledged.get(name) ?? known.get(name)!;
        expect([name, last.status]).toEqual([name, 200]);
        const { body } = await persistently(() => write(record, 'never-written', 1_000_000));
        const { currentRevision, current } = body.details;
        if (currentRevision === revisionOf(last)) {
          expect([name, { ...last.body, ...current }]).toEqual([name, last.body]);
          known.set(name, last);
          continue;
        }
        // The change was done and its response cut off: it is there as it was sent, since sending it again changes nothing.
        const again = await persistently(() => write(record, text));
        expect([name, acknowledged.has(name), again.status, currentRevision]).toEqual([
          ...[name, false, 200, revisionOf(last) + 1],
        ]);
        expect([name, revisionOf(again)]).toEqual([name, currentRevision]);
        known.set(name, again);
      }
    }
  });
});

describe('kill -9 of the API while documents are written', () => {
  it('loses none that was acknowledged, and has each other one as it was or as it was sent', async () => {
    const names = Array.from({ length: 16 }, (_, n) => `page-${n}.md`);
    const contentOf = (round: number): string => `# Page\n\n${`round ${round} `.repeat(20_000)}\n`;
    const write = (name: string, round: number) =>
      service.call.send('PUT', `/api/docs/file/${name}`, { content: contentOf(round) });
    for (const name of names) {
      const { status } = await persistently(() => write(name, 0));
      expect([name, status < 300]).toEqual([name, true]);
    }
    const known = new Map(names.map((name) => [name, 0]));
    for (let round = 1; round <= 4; round += 1) {
      const sent = new Map(names.map((name) => [name, () => write(name, round)]));
      const acknowledged = await untilKilled(sent);
      for (const name of names) {
        const { content } = await persistently(() => service.call.ok('GET', `/api/docs/file/${name}`));
        const possible = acknowledged.has(name) ? [round] : [known.get(name)!, round];
        const found = possible.find((one) => contentOf(one) === content);
        expect([name, found]).toEqual([name, expect.any(Number)]);
        known.set(name, found!);
      }
      expect(acknowledged.size).toBeGreaterThan(0);
    }
  });
});

describe('kill -9 of the API while delegations are set and automations started', () => {
  it('has one delegation of the last round, whole', async () => {
    const scope = { type: 'project', projectIds: ['shop', 'garden'] };
    const expires = new Date(Date.now() + 3_600_000).toISOString();
    for (let round = 1; round <= 4; round += 1) {
      const names = Array.from({ length: 8 }, (_, n) => `delegate-${round}-${n}`);
      const set = (delegateAgent: string) =>
        service.call.send('POST', '/api/delegation', { delegateAgent, expires, scope });
      const acknowledged = await untilKilled(new Map(names.map((name) => [name, () => set(name)])));
      expect(acknowledged.size).toBeGreaterThan(0);
      const { delegation } = await persistently(() => service.call.ok('GET', '/api/delegation'));
      expect(names).toContain(delegation.delegateAgent);
      const sent = { delegateAgent: delegation.delegateAgent, expires, scope };
      expect(delegation).toMatchObject(acknowledged.get(delegation.delegateAgent)?.body ?? sent);
    }
  });

  it('starts each automation once, and has every start that was acknowledged', async () => {
    const ids: string[] = [];
    while (ids.length < 16) {
      const task = { type: 'automation', title: `Automation ${ids.length}` };
      ids.push((await persistently(() => service.call.createTask(task))).id);
    }
    /** The attempt of each automation that runs. */
    const running = async () => {
      const tasks: { id: string; automation: { id: string } }[] = await persistently(() =>
        service.call.ok('GET', '/api/automation/running'),
      );
      return new Map(tasks.map(({ id, automation }) => [id, automation.id]));
    };
    const start = (id: string) =>
      service.call.send('POST', `/api/automation/${id}/start`, { sessionKey: `agent:${id}` });
    let started = await running();
    while (started.size < ids.length) {
      const waiting = ids.filter((id) => !started.has(id));
      const acknowledged = await untilKilled(new Map(waiting.map((id) => [id, () => start(id)])));
      const now = await running();
      for (const [id, { status, body }] of acknowledged) {
        expect([id, status, now.get(id)]).toEqual([id, 200, body.attemptId]);
      }
      expect(Object.fromEntries(now)).toMatchObject(Object.fromEntries(started));
      started = now;
    }
    const again = await service.call.send('POST', `/api/automation/${ids[0]}/start`, { sessionKey: 'agent:other' });
    expect(again.status).toBe(409);
  });
});
