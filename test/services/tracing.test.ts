import { eventually } from '../../platform/testing/eventually';
import { type Collector, type ReceivedSpan, startCollector } from '../support/otlp/collector';
import { type Service, startService } from '../support/stack/service';
import { callerSettings, tokenOf } from './workflow-runs/service-under-test';

const plantsToken = 'a-long-token-of-anna-for-plants';
const bitmapToken = 'a-long-token-of-the-bitmap-index';
const callersSpan = 'b7ad6b7169203331';
const settings = {
  ...callerSettings,
  OTEL_BSP_SCHEDULE_DELAY: '50',
  WORKFLOW_RUNS_DRY_RUN: 'true',
  WORKFLOW_RUNS_PORT: '0',
  PLANTS_PORT: '0',
  PLANTS_TOKENS: `anna:${plantsToken}`,
  BITMAP_PORT: '0',
  BITMAP_TOKEN: bitmapToken,
};

describe('the spans of services', () => {
  let collector: Collector;
  let service: Service;
  beforeAll(async () => {
    collector = await startCollector('x-collector-key');
    service = await startService(
      { ...settings, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
      { services: ['workflow-runs', 'plants', 'bitmap'] },
    );
  });
  afterAll(async () => {
    await service.close();
    await collector.close();
  });

  /** Sends a request as a part of a trace of its own, whose spans can be looked up by their names. */
  async function traced(part: keyof Service['serviceUrls'], path: string, request: { token: string; body: string }) {
    const traceId = Buffer.from(path.padEnd(16, '.')).subarray(0, 16).toString('hex');
    const response = await fetch(`${service.serviceUrls[part]}${path}`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${request.token}`,
        traceparent: `00-${traceId}-${callersSpan}-01`,
      },
      body: request.body,
    });
    const spans = (): ReceivedSpan[] => collector.spans.filter((span) => span.traceId === traceId);
    const named = (name: string): Promise<ReceivedSpan> =>
      eventually(() => {
        expect(spans().map((span) => span.name)).toContain(name);
        return spans().find((span) => span.name === name)!;
      });
    return { status: response.status, spans, named };
  }

  it('are one trace from the request of a workflow run to its prompts', async () => {
    const dot_source = 'digraph Traced { start -> a -> exit; a [prompt="one"] }';
    const run = await traced('workflow-runs', '/runs', { token: tokenOf('ann'), body: JSON.stringify({ dot_source }) });
    expect(run.status).toBe(201);
    const request = await run.named('POST /runs');
    expect(request).toMatchObject({
      service: 'runboard-workflow-runs',
      parentSpanId: callersSpan,
      attributes: { 'http.route': '/runs', 'http.response.status_code': '201' },
    });
    expect(await run.named('insert workflow-runs')).toMatchObject({ parentSpanId: request.spanId });
    const start = await run.named('StartWorkflow:workflowRun');
    expect(start).toMatchObject({ parentSpanId: request.spanId });
    const prompt = await run.named('RunActivity:runPrompt');
    expect(prompt).toMatchObject({ parentSpanId: start.spanId, service: 'runboard-workflow-runs' });
    expect(await run.named('findOneAndUpdate workflow-run-turns')).toMatchObject({ parentSpanId: prompt.spanId });
    // The dispatcher starts the runs of all callers: what it does is part of the trace of none.
    expect(await run.named('SignalWithStartWorkflow:workflowRunDispatch')).toMatchObject({
      parentSpanId: request.spanId,
    });
    const dispatcher = (spans: ReceivedSpan[]) =>
      spans.filter(({ attributes }) => attributes['temporal.workflow_type'] === 'workflowRunDispatch');
    await eventually(() => expect(dispatcher(collector.spans)).not.toEqual([]));
    expect(dispatcher(run.spans())).toEqual([]);
  });

  it('are one trace from the request to create a plant to its row', async () => {
    const plant = await traced('plants', '/plants', { token: plantsToken, body: '{"id": 7, "name": "Fern"}' });
    expect(plant.status).toBe(200);
    const request = await plant.named('POST /plants');
    expect(request).toMatchObject({ service: 'runboard-plants', parentSpanId: callersSpan });
    const start = await plant.named('UpdateWithStartWorkflow:plantCreation');
    expect(start).toMatchObject({ parentSpanId: request.spanId });
    const store = await plant.named('RunActivity:storePlant');
    expect(store).toMatchObject({ parentSpanId: start.spanId });
    expect(await plant.named('insert plants')).toMatchObject({ parentSpanId: store.spanId });
  });

  it('are of each query of the bitmap index, with its route, also of those that are refused', async () => {
    await traced('bitmap', '/index/seen', { token: bitmapToken, body: '{}' });
    await traced('bitmap', '/index/seen/field/f', { token: bitmapToken, body: '{}' });
    for (const [index, status] of [
      ['seen', 200],
      ['none', 400],
    ] as const) {
      const query = await traced('bitmap', `/index/${index}/query`, { token: bitmapToken, body: 'Count(Row(f=1))' });
      expect(query.status).toBe(status);
      expect(await query.named('POST /index/:index/query')).toMatchObject({
        service: 'runboard-bitmap',
        parentSpanId: callersSpan,
        attributes: {
          'http.request.method': 'POST',
          'http.response.status_code': String(status),
          'http.route': '/index/:index/query',
        },
      });
    }
    const refused = await traced('bitmap', '/index/a/query', { token: 'another-token-than-the-one', body: '' });
    expect(refused.status).toBe(401);
    expect(await refused.named('POST')).toMatchObject({
      parentSpanId: callersSpan,
      attributes: { 'http.response.status_code': '401' },
    });
  });
});
