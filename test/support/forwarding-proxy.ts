import { createServer, request as sendRequest } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

/** A proxy before a board, as there often is one. */
export interface ForwardingProxy {
  url: string;
  /** Method and path of each request that was forwarded. */
  requests: string[];
  /** How many WebSockets were asked for. */
  upgrades: number;
  /** Whether it opens WebSockets. */
  opens: boolean;
  /** Cuts the WebSockets that are open. */
  cut(): void;
  close(): Promise<void>;
}

export async function startForwardingProxy(target: string, opens = true): Promise<ForwardingProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  const server = createServer((incoming, response) => {
    const { method = 'GET', url = '/', headers } = incoming;
    proxy.requests.push(`${method} ${url}`);
    const forwarded = sendRequest({ hostname, port, method, path: url, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    forwarded.on('error', () => response.destroy());
    incoming.pipe(forwarded);
  });
  server.on('upgrade', ({ url = '/', headers }, client: Socket) => {
    proxy.upgrades += 1;
    if (!proxy.opens) {
      client.end('HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\nConnection: close\r\n\r\n');
      return;
    }
    const upstream = connect(Number(port), hostname, () => {
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${String(value)}`);
      upstream.write(`GET ${url} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
      client.pipe(upstream).pipe(client);
    });
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const proxy: ForwardingProxy = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    upgrades: 0,
    opens,
    cut: () => sockets.forEach((socket) => socket.destroy()),
    async close() {
      proxy.cut();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return proxy;
}
