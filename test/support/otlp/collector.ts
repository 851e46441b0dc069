import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';

/** A span as a collector receives it in JSON. */
export interface ReceivedSpan {
  service: string;
  name: string;
  kind: number;
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  attributes: Record<string, string | undefined>;
  failed: boolean;
}

interface Value {
  stringValue?: string;
  intValue?: string | number;
}

interface Attribute {
  key: string;
  value: Value;
}

interface ExportedSpan extends Pick<ReceivedSpan, 'name' | 'kind' | 'traceId' | 'spanId' | 'parentSpanId'> {
  attributes?: Attribute[];
  status?: { code?: number };
}

interface ExportRequest {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: ExportedSpan[] }[] }[];
}

const textOf = ({ stringValue, intValue }: Value): string => stringValue ?? String(intValue ?? '');
const recordOf = (attributes: Attribute[] = []) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, textOf(value)]));

export interface Collector {
  url: string;
  spans: ReceivedSpan[];
  /** The headers of the requests. */
  headers: (string | undefined)[];
  close(): Promise<void>;
}

/** A collector of OpenTelemetry on 127.0.0.1, which keeps the spans that it is sent. */
export async function startCollector(header: string): Promise<Collector> {
  const spans: ReceivedSpan[] = [];
  const headers: (string | undefined)[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      headers.push(request.headers[header] as string | undefined);
      for (const { resource, scopeSpans } of (body as ExportRequest).resourceSpans) {
        const service = recordOf(resource.attributes)['service.name'] ?? '';
        for (const { attributes, status, ...span } of scopeSpans.flatMap((scope) => scope.spans)) {
          const { name, kind, traceId, spanId, parentSpanId } = span;
          const ids = { traceId, spanId, ...(parentSpanId && { parentSpanId }) };
          spans.push({ service, name, kind, ...ids, attributes: recordOf(attributes), failed: status?.code === 2 });
        }
      }
      response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    spans,
    headers,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
