import { z } from 'zod';
import { entriesOf, milliseconds } from './kinds';

/** Names and values as `name=value,…`, with values percent-encoded where they have to be, as the SDKs of OpenTelemetry take them. */
const headers = z
  .string()
  .default('')
  .transform((list, context): Record<string, string> => {
    const found = entriesOf(list).map((entry, index): [string, string] => {
      const [, name = '', value = ''] = /^([a-z0-9-]{1,64})\s*=\s*([\x21-\x7e]{1,4096})$/i.exec(entry) ?? [];
      try {
        return [name, decodeURIComponent(value)];
      } catch {
        return ['', String(index)];
      }
    });
    found.forEach(([name], index) => {
      if (name === '') {
        context.addIssue({ code: 'custom', message: `entry ${index + 1} is not name=value` });
      }
    });
    return Object.fromEntries(found);
  })
  .meta({ form: '`name=value,…`' });

/** Where spans are sent; the names are those that OpenTelemetry defines. */
export const traceSettings = {
  OTEL_EXPORTER_OTLP_ENDPOINT: z
    .url({ protocol: /^https?$/, error: 'must be an http or https URL' })
    .optional()
    .meta({ form: 'URL' })
    .describe(
      'Collector that spans are sent to by OTLP over HTTP, such as `http://127.0.0.1:4318`; without it there are none',
    ),
  OTEL_EXPORTER_OTLP_HEADERS: headers.describe(
    'Headers that the collector requires, such as `authorization=Bearer%20…`',
  ),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .meta({ form: '0 to 1' })
    .describe('Share of traces that is recorded; the same for all processes'),
  OTEL_BSP_SCHEDULE_DELAY: milliseconds(5_000, 10, 60_000).describe('How often spans are sent'),
};
