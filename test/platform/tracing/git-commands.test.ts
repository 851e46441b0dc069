import { createLog } from '../../../platform/log/log';
import { eventually } from '../../../platform/testing/eventually';
import { makeTempDir, type TempDir } from '../../../platform/testing/temp-dir';
import { exportSpans } from '../../../platform/tracing/export';
import { inSpan, SpanKind } from '../../../platform/tracing/spans';
import { git } from '../../../services/workflow-runs/snapshots/git';
import { aRepository } from '../../support/git/repository';
import { type Collector, startCollector } from '../../support/otlp/collector';

describe('the spans of git commands', () => {
  let files: TempDir;
  let collector: Collector;
  beforeAll(async () => {
    files = await makeTempDir('git-spans');
    collector = await startCollector('x-collector-key');
  });
  afterAll(async () => {
    await collector.close();
    await files.remove();
  });

  it('have the exit code of a command that failed, and none of its arguments', async () => {
    const gitDir = `${await aRepository(files.path, 'shop')}/.git`;
    const settings = {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: {},
      OTEL_TRACES_SAMPLER_ARG: 1,
      OTEL_BSP_SCHEDULE_DELAY: 50,
    };
    const closeTracing = exportSpans(settings, 'test', createLog({ name: 'test', level: 'silent' }));
    try {
      const commands = () =>
        Promise.allSettled([
          git({ gitDir }, ['rev-parse', '--verify', 'secret-branch']),
          git({ gitDir }, ['rev-list', '--all']),
        ]);
      // Outside of a span, neither is recorded.
      await commands();
      await inSpan({ name: 'test', kind: SpanKind.INTERNAL }, commands);
    } finally {
      await closeTracing();
    }
    await eventually(() => expect(collector.spans.map(({ name }) => name)).toContain('test'));
    const [parent] = collector.spans.filter(({ name }) => name === 'test');
    const gits = collector.spans.filter(({ name }) => name !== 'test');
    const parentSpanId = parent?.spanId;
    const attributes = { 'process.executable.name': 'git' };
    expect(gits.toSorted((a, b) => a.name.localeCompare(b.name))).toMatchObject([
      { name: 'git rev-list', parentSpanId, failed: false, attributes: { ...attributes, 'process.exit.code': '0' } },
      {
        ...{ name: 'git rev-parse', parentSpanId, failed: true },
        attributes: { ...attributes, 'process.exit.code': '128', 'error.type': '128' },
      },
    ]);
    expect(JSON.stringify(gits)).not.toMatch(/secret-branch|shop/);
  });
});
