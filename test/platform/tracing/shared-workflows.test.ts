import { Client, Connection, type WorkflowClientInterceptor } from '@temporalio/client';
import { createLog } from '../../../platform/log/log';
import { eventually } from '../../../platform/testing/eventually';
import { traceCalls } from '../../../platform/tracing/client-calls';
import { exportSpans } from '../../../platform/tracing/export';
import { inSpan, SpanKind } from '../../../platform/tracing/spans';
import { wakeScheduler } from '../../../workflows/admission-scheduler/client';
import { lookAt } from '../../../workflows/goal/client';
import { createIssueSyncLauncher } from '../../../workflows/issue-sync/client';
import { type Collector, type ReceivedSpan, startCollector } from '../../support/otlp/collector';
import { type Service, startService } from '../../support/stack/service';

const env = { BOARD_RETRY_BACKOFF_MS: 100, BOARD_HEARTBEAT_TIMEOUT_MS: 5_000 };
const notSigned = (): never => {
  throw new Error('A wake-up is not signed.');
};
const log = createLog({ name: 'test', level: 'silent' });

describe('the spans of a workflow that all callers share', () => {
  let collector: Collector;
  let service: Service;
  let connection: Connection;
  let closeTracing: () => Promise<void>;
  beforeAll(async () => {
    collector = await startCollector('x-collector-key');
    service = await startService({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_BSP_SCHEDULE_DELAY: '50' });
    connection = await Connection.connect({ address: service.temporalAddress });
    const settings = {
      ...{ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, OTEL_EXPORTER_OTLP_HEADERS: {} },
      ...{ OTEL_TRACES_SAMPLER_ARG: 1, OTEL_BSP_SCHEDULE_DELAY: 50 },
    };
    closeTracing = exportSpans(settings, 'test', log);
  });
  afterAll(async () => {
    await closeTracing();
    await connection.close();
    await service.close();
    await collector.close();
  });

  /** The span of a caller's trace that has this name, and those of the activities of a type of workflows. */
  async function spansOf(call: string, workflowType: string, work: (client: Client) => Promise<unknown>) {
    const interceptors: WorkflowClientInterceptor[] = [traceCalls];
    const client = new Client({ connection, interceptors: { workflow: interceptors } });
    await inSpan({ name: `caller of ${workflowType}`, kind: SpanKind.INTERNAL }, () => work(client));
    const ofType = ({ attributes }: ReceivedSpan) => attributes['temporal.workflow_type'] === workflowType;
    return eventually(() => {
      const caller = collector.spans.find(({ name }) => name === `caller of ${workflowType}`)!;
      const start = collector.spans.find(({ name }) => name === `${call}:${workflowType}`)!;
      const activities = collector.spans.filter(ofType);
      expect([caller, start]).not.toContain(undefined);
      expect(activities).not.toEqual([]);
      expect(start.traceId).toBe(caller.traceId);
      return { trace: caller.traceId, activities: activities.map(({ traceId }) => traceId) };
    });
  }

  it.each<[string, string, (client: Client) => Promise<unknown>]>([
    ['SignalWithStartWorkflow', 'admissionScheduler', wakeScheduler],
    [
      'SignalWithStartWorkflow',
      'issueSync',
      (client) => createIssueSyncLauncher(client, { proofs: { sign: notSigned }, env, log }).wake('shop'),
    ],
  ])('are no part of the trace of the caller that started it: %s of %s', async (call, workflowType, work) => {
    const { trace, activities } = await spansOf(call, workflowType, work);
    expect(activities).not.toContain(trace);
  });

  it('are a part of it where the workflow is of one thing and ends', async () => {
    const { trace, activities } = await spansOf('SignalWithStartWorkflow', 'goal', (client) => lookAt(client, 'none'));
    expect(activities).toContain(trace);
  });
});
