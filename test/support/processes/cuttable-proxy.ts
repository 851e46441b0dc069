import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A TCP connection that a test can cut and mend. */
export interface CuttableProxy {
  port: number;
  /** Ends every connection and refuses new ones. */
  cut: () => Promise<void>;
  /** Listens again, on the same port. */
  mend: () => Promise<void>;
}

/** Starts a proxy on 127.0.0.1 to `target`; `cut` is also how to stop it. */
export async function startCuttableProxy(target: { host: string; port: number }): Promise<CuttableProxy> {
  const sockets = new Set<Socket>();
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
  };
  const server = createServer((incoming) => {
    const outgoing = connect(target);
    track(incoming);
    track(outgoing);
    incoming.pipe(outgoing).pipe(incoming);
  });
  const listen = async (port: number) => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    port,
    mend: () => listen(port),
    async cut() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) {
        socket.destroy();
      }
      await closed;
    },
  };
}
