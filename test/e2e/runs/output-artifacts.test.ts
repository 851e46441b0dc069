import { readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../../platform/testing/eventually';
import { outputCleanupId } from '../../../workflows/output-cleanup/messages';
import { type Answer, scriptAgent } from '../../support/caller';
import { aRepository } from '../../support/git/repository';
import { type Stack, startStack } from '../../support/stack/stack';

let stack: Stack;
const retentionMs = 3_000;

describe('output artifacts', () => {
  beforeAll(async () => {
    stack = await startStack({ BOARD_ARTIFACT_RETENTION_MS: String(retentionMs), RATE_LIMIT_ARTIFACTS: '200' });
    await stack.call.addRepository('sample', await aRepository(stack.dir));
    const waiting = scriptAgent('prolific', join(stack.dir, 'go-on'));
    await stack.call.configureAgents([scriptAgent('prolific'), { ...waiting, type: 'waiting' }]);
  });
  afterAll(() => stack.close());

  interface Run {
    taskId: string;
    attemptId: string;
    events: Answer['body'][];
    url: (artifactId: string, query?: Record<string, string | number>, rest?: string) => string;
  }

  async function run(agent: string): Promise<Run> {
    const { id: taskId } = await stack.call.createTask({ title: agent, git: { repo: 'sample' } });
    const { attemptId } = await stack.call.start(taskId, { agent });
    if (agent === 'prolific') {
      await stack.call.ended(taskId);
    }
    const events = await eventually(async () => {
      const found = await stack.call.events(taskId, attemptId);
      expect(found.filter(({ kind }) => kind === 'artifact.created')).toHaveLength(2);
      return found;
    });
    const url: Run['url'] = (artifactId, query = {}, rest = '') =>
      `/api/agents/${taskId}/output-artifacts/${artifactId}${rest}?${new URLSearchParams({
        runId: attemptId,
        attemptId,
        ...Object.fromEntries(Object.entries(query).map(([name, value]) => [name, String(value)])),
      }).toString()}`;
    return { taskId, attemptId, events, url };
  }

  const previewOf = (events: Answer['body'][], kind: string) =>
    events.find((event) => event.kind === kind && event.payload.outputArtifact)?.payload.outputArtifact;

  const cleanUp = async () => {
    const before = await runs();
    await stack.temporal.schedule.getHandle(outputCleanupId).trigger();
    await eventually(async () => {
      const after = await runs();
      expect(after.length).toBeGreaterThan(before.length);
      expect(after.every((status) => status === 'COMPLETED')).toBe(true);
    });
  };
  const runs = async () => {
    const statuses: string[] = [];
    for await (const { status } of stack.temporal.workflow.list({ query: 'WorkflowType = "outputCleanup"' })) {
      statuses.push(status.name);
    }
    return statuses;
  };

  /** The file that holds a content. */
  const bodyFile = (sha256: string) => {
    const hex = sha256.slice('sha256:'.length);
    return join(stack.env.BOARD_DATA_DIR, 'blobs', 'output', hex.slice(0, 2), hex);
  };

  test('what does not fit into an event can be read apart from it, in every way', async () => {
    const { taskId, attemptId, events, url } = await run('prolific');
    const long = previewOf(events, 'stream.stdout');
    const text = `begin ${'é'.repeat(20_000)} end`;
    expect(long).toMatchObject({ schemaVersion: 'run-output-preview/v1', bytes: 40_010, truncated: false });

    const about = await stack.call.ok('GET', url(long.artifactId));
    expect(about).toMatchObject({
      schemaVersion: 'run-output-read/v1',
      content: null,
      artifact: { schemaVersion: 'run-output-artifact/v1', taskId, attemptId, runId: attemptId, state: 'available' },
    });

    const part = await stack.call.ok('GET', url(long.artifactId, { operation: 'byte-range', offset: 6, length: 4 }));
    expect(part.content).toEqual({
      operation: 'byte-range',
      offset: 6,
      length: 4,
      encoding: 'utf8',
      content: 'éé',
      nextOffset: 10,
    });
    const half = await stack.call.ok('GET', url(long.artifactId, { operation: 'byte-range', offset: 7, length: 2 }));
    expect(half.content).toMatchObject({ encoding: 'base64', content: Buffer.from([0xa9, 0xc3]).toString('base64') });
    const past = await stack.call.ok('GET', url(long.artifactId, { operation: 'byte-range', offset: 50_000 }));
    expect(past.content).toMatchObject({ length: 0, content: '', nextOffset: null });

    const hits = previewOf(events, 'tool.completed');
    const found = await stack.call.ok(
      'GET',
      url(hits.artifactId, { operation: 'json-path', jsonPath: '$.detail.hits[498:].n' }),
    );
    expect(found.content.matches).toEqual([
      { path: "$['detail']['hits'][498]['n']", value: 498 },
      { path: "$['detail']['hits'][499]['n']", value: 499 },
    ]);

    const log = previewOf(events, 'artifact.created');
    expect(log).toMatchObject({ kind: 'log', name: 'out/build.log' });
    const lines = await stack.call.ok(
      'GET',
      url(log.artifactId, { operation: 'line-range', startLine: 2_999, lineCount: 5 }),
    );
    expect(lines.content).toEqual({
      operation: 'line-range',
      startLine: 2_999,
      lines: ['line 2999', 'line 3000'],
      truncated: false,
      totalLines: 3_000,
      nextLine: null,
    });

    const download = await fetch(`${stack.url}${url(long.artifactId, { offset: 0 }, '/download')}`);
    expect(await download.text()).toBe(text);
    expect(download.headers.get('content-type')).toBe('application/octet-stream');
    expect(download.headers.get('content-disposition')).toBe(`attachment; filename="${long.artifactId}"`);
    expect(download.headers.get('x-artifact-media-type')).toBe('text/plain; charset=utf-8');
    const range = await fetch(`${stack.url}${url(long.artifactId, { offset: 2, length: 3 }, '/download')}`);
    expect(await range.text()).toBe('gin');
    expect(range.headers.get('content-length')).toBe('3');
  });

  test('a file outside the worktree is not captured, and the event reports why', async () => {
    const { events } = await run('prolific');
    const [, second] = events.filter(({ kind }) => kind === 'artifact.created');
    expect(second.payload).toEqual({ path: 'out/passwd', problem: 'It is a symbolic link.' });
  });

  test('requests that fit no artifact or no content are refused with the reason', async () => {
    const { taskId, attemptId, events, url } = await run('prolific');
    const { artifactId } = previewOf(events, 'stream.stdout');
    const status = async (path: string) => (await stack.call.get(path)).status;
    const other = await run('prolific');
    expect(await status(other.url(artifactId))).toBe(404);
    expect(await status(url('artifact_00000000000000000000'))).toBe(404);
    expect(await status(url(artifactId, { runId: 'attempt_000000000000' }))).toBe(404);
    expect(await status(`/api/agents/${taskId}/output-artifacts/${artifactId}?attemptId=${attemptId}`)).toBe(400);
    const wrong: Record<string, string | number>[] = [
      { operation: 'byte-range', offset: -1 },
      { operation: 'byte-range', length: 65_537 },
      { operation: 'byte-range', startLine: 1 },
      { operation: 'line-range', lineCount: 0 },
      { operation: 'json-path' },
      { operation: 'json-path', jsonPath: '$[' },
      { operation: 'eval', jsonPath: '$' },
      { offset: 1 },
    ];
    for (const query of wrong) {
      const answer = await stack.call.get(url(artifactId, query));
      // The text is no JSON: a path that can be read finds that out.
      expect([query, answer.status]).toEqual([query, query.jsonPath === '$[' ? 409 : 400]);
    }
    const hits = previewOf(events, 'tool.completed');
    const bad = await stack.call.get(url(hits.artifactId, { operation: 'json-path', jsonPath: '$[' }));
    expect(bad).toMatchObject({ status: 400, body: { details: { issues: [{ path: 'jsonPath' }] } } });
    const notJson = await stack.call.get(url(artifactId, { operation: 'json-path', jsonPath: '$' }));
    expect(notJson).toMatchObject({ status: 409, body: { code: 'ARTIFACT_NOT_JSON' } });
  });

  test('content is withheld for good when it is not what was stored, and what it was is still reported', async () => {
    const { events, url } = await run('prolific');
    const preview = previewOf(events, 'artifact.created');
    const path = bodyFile(preview.sha256);
    writeFileSync(path, 'x'.repeat(statSync(path).size));
    const range = url(preview.artifactId, { operation: 'byte-range', offset: 0, length: 1 });
    for (const read of [range, url(preview.artifactId, {}, '/download')]) {
      expect(await stack.call.get(read)).toMatchObject({
        status: 409,
        body: { code: 'ARTIFACT_QUARANTINED', details: { reason: 'hash-mismatch' } },
      });
    }
    expect((await stack.call.ok('GET', url(preview.artifactId))).artifact).toMatchObject({
      state: 'quarantined',
      quarantine: { reason: 'hash-mismatch' },
      sha256: preview.sha256,
    });
  });

  test('content expires when its time is over, but not while a run of its task is active', async () => {
    const ended = await run('prolific');
    const active = await run('waiting');
    const of = ({ events, url }: Run) => url(previewOf(events, 'stream.stdout').artifactId);
    const last = Date.parse((await stack.call.ok('GET', of(active))).artifact.expiresAt);
    await eventually(() => expect(Date.now()).toBeGreaterThan(last));

    await cleanUp();
    expect((await stack.call.ok('GET', of(ended))).artifact).toMatchObject({ state: 'expired' });
    expect(await stack.call.get(`${of(ended)}&operation=line-range`)).toMatchObject({
      status: 410,
      body: { code: 'ARTIFACT_EXPIRED' },
    });
    expect((await stack.call.ok('GET', of(active))).artifact).toMatchObject({
      state: 'available',
      lease: { attemptId: active.attemptId },
    });

    writeFileSync(join(stack.dir, 'go-on'), '');
    await stack.call.ended(active.taskId);
    await cleanUp();
    expect((await stack.call.ok('GET', of(active))).artifact).toMatchObject({ state: 'expired' });
  });

  test('reads of content are limited, the record of an artifact is not', async () => {
    const { events, url } = await run('prolific');
    const { artifactId } = previewOf(events, 'stream.stdout');
    const read = () => stack.call.get(url(artifactId, { operation: 'byte-range', length: 1 }));
    const limited = await eventually(async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, read));
      const refused = answers.find(({ status }) => status === 429);
      if (!refused) {
        throw new Error('not limited yet');
      }
      return refused;
    });
    expect(limited.body.code).toBe('RATE_LIMITED');
    expect(limited.headers.get('retry-after')).toMatch(/^\d+$/);
    expect(limited.headers.get('x-ratelimit-limit')).toBe('200');
    expect(limited.headers.get('x-ratelimit-remaining')).toBe('0');
    expect((await stack.call.get(url(artifactId))).status).toBe(200);
    expect(readdirSync(join(stack.env.BOARD_DATA_DIR, 'blobs', 'output', 'unfinished'))).toEqual([]);
  });
});
