import { compatTable } from '../../../domain/compat/profile';
import { adminKey, agentKey, type ApiUnderTest, readKey, startTestApi, startWholeTestApi } from '../api-under-test';

type Schema = Record<string, any>; // eslint-disable-line @typescript-eslint/no-explicit-any -- a JSON schema

/** What of a reply is about the list, and not the list itself. */
const ofLists = ['nextCursor', 'nextBefore', 'pagination', 'meta', 'revision', 'truncated'];

/** Lists that stay objects: the supplement gives them as such, or says nothing of a list. */
const objects = [
  // An object by the specification or its supplement.
  'getAgentStatus',
  'listActivityFilters',
  'listDelegatedApprovals',
  'listLessons',
  'listLessonTags',
  // What has the only list is a part of a record.
  'getReview',
];

describe('reply profile for existing clients', () => {
  let board: ApiUnderTest;
  beforeAll(async () => {
    board = await startWholeTestApi();
  });
  afterAll(() => board.close());

  const call = (method: string, path: string, options = {}) => board.call(method, `/compat/api${path}`, options);

  describe('table of presenters', () => {
    let operations: { id: string; method: string; query: string[]; reply: Schema | undefined }[];
    let schemas: Record<string, Schema>;
    beforeAll(async () => {
      const document = (await board.call('GET', '/api/openapi.json')).body as Schema;
      schemas = document.components.schemas;
      operations = Object.values<Schema>(document.paths).flatMap((methods) =>
        Object.entries<Schema>(methods).map(([method, operation]) => ({
          id: operation.operationId as string,
          method,
          query: (operation.parameters as Schema[])
            .filter((one) => one.in === 'query')
            .map((one) => one.name as string),
          reply: Object.entries<Schema>(operation.responses).find(([status]) => status.startsWith('2'))?.[1].content?.[
            'application/json'
          ]?.schema,
        })),
      );
    });

    const resolve = (schema: Schema): Schema =>
      schema.$ref === undefined ? schema : resolve(schemas[schema.$ref.split('/').at(-1)]!);
    const names = (value: unknown): string[] =>
      [...JSON.stringify(value ?? {}).matchAll(/"#\/components\/schemas\/([^"]+)"/g)].map(([, name]) => name!);
    const reaches = (value: unknown, targets: string[], visited = new Set<string>()): boolean =>
      names(value).some((name) => {
        if (visited.has(name)) {
          return false;
        }
        visited.add(name);
        return targets.includes(name) || reaches(schemas[name], targets, visited);
      });
    const rows = compatTable.flatMap((one) => one.operations.map((id) => ({ id, ...one })));

    it('names operations that exist, each once', () => {
      const ids = rows.map(({ id }) => id);
      expect(ids.filter((id) => !operations.some((operation) => operation.id === id))).toEqual([]);
      expect(ids).toEqual([...new Set(ids)]);
    });

    it('has a presenter for every reply with a record whose names differ', () => {
      const renamed = ['Task', 'RestoredTask', 'TaskSummary', 'Attempt', 'RunRecovery', 'PhaseEvidence', 'AgentConfig'];
      const admission = [
        'AdmissionReservation',
        'AdmissionQueueList',
        'AdmissionQueueInspection',
        'ExecutionTreeSummary',
      ];
      const presented = new Set(rows.filter((row) => row.present !== undefined).map(({ id }) => id));
      const missing = operations.filter(
        ({ id, reply }) => reaches(reply, [...renamed, ...admission]) && !presented.has(id),
      );
      expect(missing.map(({ id }) => id)).toEqual([]);
    });

    it('makes an array of every list that is an object only to have pages', () => {
      const presented = new Set(rows.filter((row) => row.present !== undefined).map(({ id }) => id));
      const lists = operations.filter(({ method, reply }) => {
        const properties = Object.entries<Schema>((reply && resolve(reply).properties) ?? {});
        const fields = properties.filter(([name]) => !ofLists.includes(name));
        return method === 'get' && fields.length === 1 && resolve(fields[0]![1]).type === 'array';
      });
      expect(lists.length).toBeGreaterThan(15);
      expect(lists.filter(({ id }) => !presented.has(id) && !objects.includes(id)).map(({ id }) => id)).toEqual([]);
    });

    it('takes no query name that the operation takes, and translates into names that it does', () => {
      for (const { id, query, toQuery } of rows) {
        const known = operations.find((operation) => operation.id === id)!.query;
        expect(Object.keys(query?.shape ?? {}).filter((name) => known.includes(name))).toEqual([]);
        expect(Object.keys(toQuery?.({ unsent: 'true' }) ?? {}).filter((name) => !known.includes(name))).toEqual([]);
      }
    });
  });

  describe('tasks', () => {
    it('come as a bare array, with the names of existing clients and the links of the prefix', async () => {
      const made = await board.createTask({ title: 'First', project: 'compat' });
      await board.createTask({ title: 'Second', project: 'compat' });
      const list = await call('GET', '/tasks?project=compat&limit=1&view=summary');
      expect([list.status, list.body]).toEqual([
        200,
        [
          expect.objectContaining({
            title: 'Second',
            created: expect.any(String),
            updated: expect.any(String),
            attachmentCount: 0,
          }),
        ],
      ]);
      expect(list.body[0]).not.toHaveProperty('description');
      const link = list.headers.get('link')!;
      const next = /<([^>]+)>; rel="next"/.exec(link)![1]!;
      expect(next).toMatch(/^\/compat\/api\/tasks\?.*view=summary/);
      const second = await board.call('GET', next);
      expect(second.body).toEqual([expect.objectContaining({ id: made.id, created: made.createdAt })]);
      expect(second.body[0]).not.toHaveProperty('createdAt');
    });

    it('keep the default shape elsewhere', async () => {
      expect((await board.call('GET', '/api/tasks')).body).toHaveProperty('tasks');
      expect((await board.call('GET', '/api/tasks?view=summary')).status).toBe(400);
    });

    it('carry the fields that were named', async () => {
      const { body } = await call('GET', '/tasks?project=compat&fields=title,created');
      expect(Object.keys(body[0]).sort()).toEqual(['created', 'id', 'title']);
    });

    it('are created once under an idempotency key, and each prefix replays its own shape', async () => {
      const request = { body: { title: 'Once' }, headers: { 'Idempotency-Key': 'compat-once' } };
      const first = await call('POST', '/tasks', request);
      expect([first.status, first.headers.get('location')]).toEqual([201, `/compat/api/tasks/${first.body.id}`]);
      expect(first.body.created).toBe(first.body.createdAt);
      const again = await call('POST', '/v1/tasks', request);
      expect([again.headers.get('idempotency-replayed'), again.body]).toEqual(['true', first.body]);
      const plain = await board.call('POST', '/api/tasks', request);
      expect([plain.body.id, plain.body.created]).toEqual([first.body.id, undefined]);
    });

    it('change at the revision of the tag, and refuse another one in the default shape', async () => {
      const made = await board.createTask({ title: 'Tagged' });
      const read = await call('GET', `/tasks/${made.id}`);
      const tag = read.headers.get('etag')!;
      const unchanged = await call('GET', `/tasks/${made.id}`, { headers: { 'If-None-Match': tag } });
      expect([unchanged.status, unchanged.body.id]).toEqual([200, made.id]);
      const change = { body: { title: 'Changed' }, headers: { 'If-Match': tag } };
      expect((await call('PATCH', `/tasks/${made.id}`, change)).body).toMatchObject({ title: 'Changed', revision: 2 });
      const stale = await call('PATCH', `/tasks/${made.id}`, change);
      expect([stale.status, stale.body]).toMatchObject([
        409,
        { code: 'CONFLICT', details: { currentRevision: 2, current: { id: made.id } } },
      ]);
    });

    it('name their worktree while there is one', async () => {
      const made = await board.createTask({ title: 'In a worktree', git: { repo: 'service' } });
      const { context } = board.api;
      await context.worktrees.insert(aWorktree(made.id));
      const read = await call('GET', `/tasks/${made.id}`);
      expect(read.body.git).toMatchObject({
        repo: 'service',
        worktreePath: `/worktrees/${made.id}`,
        branch: 'board/x',
      });
      const { body } = await board.call('GET', `/api/tasks/${made.id}`);
      expect(body.git).toEqual({ repo: 'service' });
    });

    it('are the same in dependencies, changes, the backlog and the archive', async () => {
      const [a, b] = [await board.createTask({ title: 'A' }), await board.createTask({ title: 'B' })];
      const added = await call('POST', `/tasks/${a.id}/dependencies`, { body: { depends_on: b.id } });
      expect(added.body).toMatchObject({ id: a.id, created: a.createdAt });
      expect((await call('GET', `/tasks/${a.id}/dependencies`)).body.depends_on).toMatchObject([
        { id: b.id, created: b.createdAt },
      ]);
      const graph = await call('GET', `/tasks/${a.id}/dependency-graph`);
      expect(graph.body.upstream).toMatchObject([{ task: { created: b.createdAt }, children: [] }]);
      const changes = await call('GET', '/changes?since=2020-01-01T00:00:00Z');
      expect(changes.body.changes.tasks.created[0]).toHaveProperty('created');
      await call('POST', `/tasks/${b.id}/demote`);
      expect((await call('GET', '/backlog')).body).toMatchObject([{ id: b.id, created: b.createdAt }]);
      const done = await board.createTask({ title: 'Done', status: 'done' });
      await call('POST', `/tasks/${done.id}/archive`);
      expect((await call('GET', '/tasks/archived')).body).toMatchObject([{ id: done.id, created: done.createdAt }]);
    });
  });

  it('serves other lists as arrays, and objects where the supplement has them', async () => {
    for (const path of [
      '/config/agents',
      '/config/repos',
      '/config/agent-support',
      '/config/profiles',
      '/tool-servers',
    ]) {
      expect([path, (await call('GET', path)).body]).toEqual([path, expect.any(Array)]);
    }
    expect((await call('GET', '/admission')).body).toMatchObject({ reservations: [] });
    expect((await call('GET', '/admission/queue')).body).toMatchObject({ entries: [], pagination: { total: 0 } });
    const task = await board.createTask({ title: 'No run' });
    expect((await call('GET', `/agents/${task.id}/attempts`)).body).toEqual([]);
    expect((await call('GET', `/agents/${task.id}/status`)).body).toMatchObject({ running: false, status: null });
    expect((await call('GET', `/agents/${task.id}/recovery`)).body).toBeNull();
    expect((await call('GET', '/health')).body).toMatchObject({ ok: true });
  });

  it('presents agents with a command and a profile', async () => {
    const agents = [{ type: 'far', name: 'Far', provider: 'remote-callback' }];
    const put = await call('PUT', '/config/agents', { body: { agents } });
    expect(put.body).toMatchObject([{ type: 'far', command: '', args: [], supportProfile: 'remote-callback' }]);
    expect((await call('GET', '/config/agents')).body).toEqual(put.body);
    expect((await board.call('GET', '/api/config/agents')).body).toMatchObject({ agents: [{ type: 'far' }] });
  });

  it('takes unsent for undelivered, and one of them only', async () => {
    await call('POST', '/notifications', { body: { message: 'For the administrators' } });
    expect((await call('GET', '/notifications?unsent=true')).body).toHaveLength(1);
    const { body: sent } = await call('GET', '/notifications/pending');
    await call('POST', '/notifications/mark-sent', { body: { ids: [sent.messages[0].id] } });
    expect((await call('GET', '/notifications?unsent=true')).body).toEqual([]);
    expect((await call('GET', '/notifications?unsent=false')).body).toHaveLength(1);
    for (const [query, path] of [
      ['unsent=yes', 'unsent'],
      ['unsent=true&undelivered=true', 'undelivered'],
      ['nothing=1', 'nothing'],
    ] as const) {
      const refused = await call('GET', `/notifications?${query}`);
      expect([refused.status, refused.body.details.issues[0].path]).toEqual([400, path]);
    }
    expect((await call('GET', '/tasks?view=tiny')).body.details.issues[0].path).toBe('view');
    expect((await call('GET', '/tasks?view=summary&view=full')).status).toBe(400);
  });

  it('asks for the same keys and permissions', async () => {
    expect((await call('GET', '/tasks', { key: null })).status).toBe(401);
    expect((await call('POST', '/tasks', { key: readKey, body: { title: 'No' } })).body.code).toBe('WRITE_FORBIDDEN');
    expect((await call('GET', '/config/agents', { key: agentKey })).body.code).toBe('FORBIDDEN');
    expect((await call('DELETE', '/tasks')).status).toBe(405);
  });

  it('writes the same entry of the audit log', async () => {
    const { body } = await call('POST', '/tasks', { body: { title: 'Audited' } });
    const { entries } = (await board.call('GET', '/api/audit')).body;
    expect(entries).toContainEqual(expect.objectContaining({ action: 'task.create', resource: body.id }));
  });

  it('leaves files and pages of other kinds unchanged', async () => {
    const made = await board.createTask({ title: 'With a file' });
    const form = new FormData();
    form.append('files', new Blob(['hello'], { type: 'text/plain' }), 'a.txt');
    const sent = await fetch(`${board.url}/compat/api/tasks/${made.id}/attachments`, {
      method: 'POST',
      headers: { 'X-API-Key': adminKey },
      body: form,
    });
    const { attachments, task } = (await sent.json()) as Schema;
    expect([sent.status, task.created]).toEqual([201, made.createdAt]);
    const file = await call('GET', `/tasks/${made.id}/attachments/${attachments[0].id}/download`);
    expect([file.status, file.body]).toEqual([200, 'hello']);
    const summary = await call('GET', '/summary/memory');
    expect(summary.headers.get('content-type')).toMatch(/^text\/markdown/);
  });

  it('has nothing besides the API: other paths and the WebSocket are 404', async () => {
    for (const path of [
      '/compat',
      '/compat/',
      '/compat/api',
      '/compat/health',
      '/compat/apis',
      '/compat/api/nothing',
    ]) {
      expect([path, (await board.call('GET', path)).status]).toEqual([path, 404]);
    }
    const missing = await board.call('GET', '/compat/api/nothing');
    expect(missing.body).toMatchObject({ code: 'NOT_FOUND', details: { path: '/compat/api/nothing' } });
    expect((await board.call('GET', '/compat/compat/api/tasks')).status).toBe(404);
  });
});

describe('reply profile that is turned off', () => {
  it('is not served', async () => {
    const board = await startTestApi({ BOARD_COMPAT: 'false' });
    try {
      expect((await board.call('GET', '/compat/api/tasks')).status).toBe(404);
      expect((await board.call('GET', '/api/tasks')).status).toBe(200);
    } finally {
      await board.close();
    }
  });
});

/** The record of a worktree that is ready. */
function aWorktree(taskId: string) {
  const now = new Date().toISOString();
  const path = `/worktrees/${taskId}`;
  return {
    _id: taskId,
    allocation: `host:${path}`,
    schemaVersion: 'worktree-manifest/v1' as const,
    manifestId: 'manifest_1',
    taskId,
    repository: 'service',
    repositoryPath: '/repositories/service',
    hostId: 'host',
    path,
    branch: 'board/x',
    base: { branch: 'main', remote: null, sha: 'a'.repeat(40), source: 'local' as const, fetchedAt: null },
    remoteFingerprint: null,
    lease: { leaseId: 'lease_1', ownerAttemptId: null, seconds: 60, expiresAt: now },
    state: 'ready' as const,
    operation: null,
    recoverable: null,
    history: [],
    createdAt: now,
    updatedAt: now,
    revision: 1,
  };
}
