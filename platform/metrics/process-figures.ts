import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Closer } from '../processes/closers';
import type { Metrics } from './metrics';

/** How often the delay of the event loop is sampled, in milliseconds. */
const resolutionMs = 20;

/** What a process uses, and how late its event loop is; the closer ends the sampling. */
export function measureProcess({ gauge, meter }: Metrics, startedAt: Date): Closer {
  const delay = monitorEventLoopDelay({ resolution: resolutionMs });
  delay.enable();
  const quantiles = [0.5, 0.99, 1];
  gauge(
    'nodejs.eventloop.delay.seconds',
    'How late the event loop was, since the metrics were read before',
    async () => {
      const read = quantiles.map((quantile) => {
        const nanoseconds = quantile === 1 ? delay.max : delay.percentile(quantile * 100);
        return [delay.count === 0 ? 0 : nanoseconds / 1e9, { quantile: String(quantile) }] as const;
      });
      delay.reset();
      return read;
    },
  );
  gauge('process.memory.bytes', 'Memory of the process', async () => {
    const { rss, heapUsed, external } = process.memoryUsage();
    return [
      [rss, { kind: 'resident' }],
      [heapUsed, { kind: 'heap' }],
      [external, { kind: 'external' }],
    ];
  });
  meter
    .createObservableCounter('process.cpu.seconds', { description: 'CPU time of the process' })
    .addCallback((result) => {
      const { user, system } = process.cpuUsage();
      result.observe(user / 1e6, { mode: 'user' });
      result.observe(system / 1e6, { mode: 'system' });
    });
  gauge('process.uptime.seconds', 'How long the process runs', async () => {
    return (Date.now() - startedAt.getTime()) / 1_000;
  });
  return async () => void delay.disable();
}
