/** Upper bounds of the latency buckets, in seconds. */
const bounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

interface Series {
  count: number;
  seconds: number;
  buckets: number[];
}

interface ObservedRequest {
  method: string;
  route: string;
  status: number;
  seconds: number;
}

/** Counts requests and how long they took, for `/metrics`, in the text format that Prometheus reads. */
export class Metrics {
  private readonly series = new Map<string, Series>();

  observe({ method, route, status, seconds }: ObservedRequest): void {
    const labels = `method="${method}",route="${route}",status="${status}"`;
    let one = this.series.get(labels);
    if (!one) {
      this.series.set(labels, (one = { count: 0, seconds: 0, buckets: bounds.map(() => 0) }));
    }
    one.count += 1;
    one.seconds += seconds;
    for (let at = bounds.length - 1; at >= 0 && seconds <= (bounds[at] ?? 0); at -= 1) {
      one.buckets[at] = (one.buckets[at] ?? 0) + 1;
    }
  }

  /** @param gauges further values by name, with what they mean */
  text(gauges: readonly { name: string; help: string; value: number }[]): string {
    const name = 'bitmap_request_duration_seconds';
    const lines = [`# HELP ${name} How long requests took.`, `# TYPE ${name} histogram`];
    for (const [labels, { count, seconds, buckets }] of this.series) {
      for (const [at, bound] of bounds.entries()) {
        lines.push(`${name}_bucket{${labels},le="${bound}"} ${buckets[at] ?? 0}`);
      }
      lines.push(`${name}_bucket{${labels},le="+Inf"} ${count}`, `${name}_sum{${labels}} ${seconds}`);
      lines.push(`${name}_count{${labels}} ${count}`);
    }
    for (const gauge of gauges) {
      lines.push(`# HELP ${gauge.name} ${gauge.help}`, `# TYPE ${gauge.name} gauge`, `${gauge.name} ${gauge.value}`);
    }
    return `${lines.join('\n')}\n`;
  }
}
