import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { eventually } from '../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../platform/testing/temp-dir';
import { scriptAgent } from '../support/caller';
import { aRepository } from '../support/git/repository';
import { type Collector, type ReceivedSpan, startCollector } from '../support/otlp/collector';
import { type Service, startService } from '../support/stack/service';

const callersTrace = '0af7651916cd43dd8448eb211c80319c';
const callersSpan = 'b7ad6b7169203331';

describe('the spans of a run', () => {
  let files: TempDir;
  let collector: Collector;
  let service: Service;
  beforeAll(async () => {
    files = await makeTempDir('tracing');
    collector = await startCollector('x-collector-key');
    service = await startService({
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=key%20of%20the%20collector',
      OTEL_BSP_SCHEDULE_DELAY: '50',
    });
    await service.call.addRepository('shop', await aRepository(files.path, 'shop'));
    await service.call.configureAgents([
      { ...scriptAgent('tracing/traced', join(files.path, 'trace.json')), type: 'traced', name: 'traced' },
    ]);
  });
  afterAll(async () => {
    await service.close();
    await collector.close();
    await files.remove();
  });

  const named = (name: string): ReceivedSpan | undefined =>
    collector.spans.find((span) => span.name === name && span.traceId === callersTrace);

  it('are one trace from the request of its caller to its agent, and each names its parent', async () => {
    const { id } = await service.call.createTask({ title: 'Traced', git: { repo: 'shop' } });
    const response = await fetch(`${service.apiUrl}/api/agents/${id}/start`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', traceparent: `00-${callersTrace}-${callersSpan}-01` },
      body: '{}',
    });
    expect(response.status).toBe(201);
    await service.call.ended(id);
    const spans = await eventually(() => {
      const found = {
        request: named('POST /api/agents/:taskId/start')!,
        start: collector.spans.find(({ name, traceId }) => traceId === callersTrace && /StartWorkflow:/.test(name))!,
        dispatch: named('RunActivity:dispatch')!,
        finish: named('RunActivity:finish')!,
      };
      expect(Object.values(found)).not.toContain(undefined);
      return found;
    });
    expect(spans.request).toMatchObject({
      service: 'runboard-api',
      parentSpanId: callersSpan,
      attributes: { 'http.route': '/api/agents/:taskId/start', 'http.response.status_code': '201' },
    });
    expect(spans.start).toMatchObject({ service: 'runboard-api', parentSpanId: spans.request.spanId });
    const { attemptId } = await service.call.status(id);
    for (const span of [spans.dispatch, spans.finish]) {
      expect(span).toMatchObject({
        service: 'runboard-worker',
        parentSpanId: spans.start.spanId,
        attributes: { 'temporal.workflow_id': `run/${attemptId}` },
      });
    }
    const agent = JSON.parse(await readFile(join(files.path, 'trace.json'), 'utf8'));
    const traceparent = `00-${callersTrace}-${spans.dispatch.spanId}-01`;
    expect(agent).toEqual({ environment: traceparent, document: { traceparent } });
    expect(new Set(collector.headers)).toEqual(new Set(['key of the collector']));
  });

  it('have the operations of the stores and the commands of git within the request and the activities', async () => {
    const traced = () => collector.spans.filter(({ traceId }) => traceId === callersTrace);
    const byId = new Map(traced().map((span) => [span.spanId, span]));
    const stores = traced().filter(({ attributes }) => attributes['db.system.name'] !== undefined);
    const parentOf = ({ parentSpanId = '' }: ReceivedSpan) => byId.get(parentSpanId)?.name ?? '';
    const attempts = stores.filter(({ attributes }) => attributes['db.collection.name'] === 'attempts');
    expect(stores.map(parentOf)).toContain('POST /api/agents/:taskId/start');
    expect(new Set(attempts.map(parentOf))).toContain('RunActivity:dispatch');
    expect(attempts.find(({ name }) => name === 'findOneAndUpdate attempts')).toMatchObject({
      kind: 3,
      attributes: {
        'db.system.name': 'sqlite',
        'db.operation.name': 'findOneAndUpdate',
        'db.collection.name': 'attempts',
      },
    });
    const gits = traced().filter(({ name }) => name.startsWith('git '));
    expect(new Set(gits.map(parentOf))).toContain('RunActivity:prepare');
    for (const { name, kind, attributes } of gits) {
      expect(name).toMatch(/^git [a-z-]+$/);
      expect(kind).toBe(3);
      expect(Object.keys(attributes).filter((each) => each !== 'error.type')).toEqual([
        'process.executable.name',
        'process.exit.code',
      ]);
    }
    expect(JSON.stringify([...stores, ...gits])).not.toContain(files.path);
  });

  it('are of stores and git only where something else is traced', () => {
    const own = collector.spans.filter(
      ({ name, attributes }) => name.startsWith('git ') || attributes['db.system.name'],
    );
    expect(own.length).toBeGreaterThan(0);
    expect(own.filter(({ parentSpanId }) => parentSpanId === undefined)).toEqual([]);
  });

  it('have no path, which may hold what a caller sends', async () => {
    await fetch(`${service.apiUrl}/api/tasks/word-of-a-caller?key=another`);
    const refused = await eventually(() => {
      const found = collector.spans.find(
        ({ name, attributes }) =>
          name.startsWith('GET /api/tasks/:') && attributes['http.response.status_code'] === '400',
      );
      expect(found).toBeDefined();
      return found!;
    });
    expect(JSON.stringify(refused)).not.toMatch(/word-of-a-caller|another/);
  });

  it('name the trace in the log lines of the request', async () => {
    const log = await readFile(join(service.dataDir, 'logs', 'api.log'), 'utf8');
    expect(log).toMatch(new RegExp(`"trace_id":"${callersTrace}"[^\\n]*"msg":"request"`));
  });

  it('are of workflows whose tasks time out as those of every client', async () => {
    const connection = await Connection.connect({ address: service.temporalAddress });
    try {
      const [{ attemptId }] = [await service.call.status((await service.call.ok('GET', '/api/tasks')).tasks[0].id)];
      const { raw } = await new Client({ connection }).workflow.getHandle(`run/${attemptId}`).describe();
      expect(raw.executionConfig?.defaultWorkflowTaskTimeout?.seconds?.toNumber()).toBe(5);
    } finally {
      await connection.close();
    }
  });
});
