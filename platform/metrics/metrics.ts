import type { Attributes, Meter, ObservableResult } from '@opentelemetry/api';
import { PrometheusSerializer } from '@opentelemetry/exporter-prometheus';
import { AggregationType, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';

/** The bounds of durations, in seconds: from a read in memory to a request that is about to be refused. */
const durationBounds = [0.001, 0.005, 0.02, 0.1, 0.5, 2.5, 10];
/** Combinations of attributes of one instrument that are counted apart; what is beyond is counted together. */
const maxSeries = 2_000;

/** Reads what is measured when it is asked to, and sends it nowhere. */
class ReadOnDemand extends MetricReader {
  protected override async onForceFlush(): Promise<void> {
    // Nothing is buffered.
  }

  protected override async onShutdown(): Promise<void> {
    // Nothing is open.
  }
}

/** A duration that is measured: in milliseconds as this code counts, in seconds as it is shown. */
export type RecordDuration = (ms: number, attributes: Attributes) => void;

/** A figure that is read when the metrics are: one number, or one for each set of attributes. */
export type ReadFigure = () => Promise<number | readonly (readonly [value: number, attributes: Attributes])[]>;

export interface Metrics {
  meter: Meter;
  duration: (name: string, description: string) => RecordDuration;
  /** A figure of which the latest value counts. One that cannot be read is left out, and the others are read all the same. */
  gauge: (name: string, description: string, read: ReadFigure) => void;
  /** All of them, in Prometheus' text format. */
  read: () => Promise<string>;
}

/**
 * The metrics of one process, with the SDK of OpenTelemetry.
 *
 * @param onUnread receives why a figure could not be read
 */
export function createMetrics(onUnread: (name: string, error: unknown) => void = () => undefined): Metrics {
  const reader = new ReadOnDemand();
  const provider = new MeterProvider({
    readers: [reader],
    views: [
      {
        instrumentName: '*.duration.seconds',
        aggregation: { type: AggregationType.EXPLICIT_BUCKET_HISTOGRAM, options: { boundaries: durationBounds } },
        aggregationCardinalityLimit: maxSeries,
      },
    ],
  });
  const meter = provider.getMeter('runboard');
  // Neither timestamps nor labels of the SDK: who scrapes adds which process it is.
  const serializer = new PrometheusSerializer('', false, undefined, true, true);
  return {
    meter,
    duration(name, description) {
      const histogram = meter.createHistogram(`${name}.duration.seconds`, { description });
      return (ms, attributes) => histogram.record(ms / 1_000, attributes);
    },
    gauge(name, description, read) {
      const observe = async (result: ObservableResult): Promise<void> => {
        try {
          const figure = await read();
          for (const [value, attributes] of typeof figure === 'number' ? [[figure, {}] as const] : figure) {
            result.observe(value, attributes);
          }
        } catch (error) {
          onUnread(name, error);
        }
      };
      meter.createObservableGauge(name, { description }).addCallback(observe);
    },
    async read() {
      const { resourceMetrics } = await reader.collect({ timeoutMillis: 5_000 });
      return serializer.serialize(resourceMetrics);
    },
  };
}
