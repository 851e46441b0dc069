/**
 * Started in a sandbox before a program that serves a port: passes connections to a socket in a directory that the host has too on
 * to the port on the sandbox's own loopback, runs the program, and ends as that ends. It uses nothing but Node: no other file of ours is
 * in the sandbox.
 */
import { spawn } from 'node:child_process';
import { connect, createServer, type Socket } from 'node:net';
import { constants } from 'node:os';

const [socket = '', port = '', path = '', ...args] = process.argv.slice(2);

// What the group is signalled is for the program.
for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'] as const) {
  process.on(signal, () => undefined);
}

function join(client: Socket, hosts: readonly string[]): void {
  const [host, ...others] = hosts;
  const server = connect({ host, port: Number(port), allowHalfOpen: true });
  const next = (): void => {
    if (others.length > 0 && !client.destroyed) {
      join(client, others);
    } else {
      client.destroy();
    }
  };
  server.once('error', next);
  server.once('connect', () => {
    server.off('error', next);
    server.on('error', () => client.destroy());
    client.once('close', () => server.destroy());
    server.once('close', () => client.destroy());
    client.pipe(server).pipe(client);
  });
}

const relay = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
  client.on('error', () => client.destroy());
  join(client, ['127.0.0.1', '::1']);
});

relay.listen(socket, () => {
  const child = spawn(path, args, { stdio: 'inherit' });
  child.on('error', () => process.exit(127));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0)));
});
