/**
 * The first process of a sandbox that has a proxy: passes connections to a port of its loopback on to the socket of the proxy,
 * runs the program, and ends as that ends. It uses nothing but Node: no other file of ours is in the sandbox.
 */
import { spawn } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { constants } from 'node:os';

const [socket = '', port = '', path = '', ...args] = process.argv.slice(2);

// What the group is signalled is for the program.
for (const signal of ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGQUIT'] as const) {
  process.on(signal, () => undefined);
}

const server = createServer({ allowHalfOpen: true }, (client) => {
  // The proxy is another one once another worker supervises the run: each connection looks for it.
  const proxy = connect({ path: socket, allowHalfOpen: true });
  client.on('error', () => proxy.destroy());
  proxy.on('error', () => client.destroy());
  client.on('close', () => proxy.destroy());
  proxy.on('close', () => client.destroy());
  client.pipe(proxy).pipe(client);
});

server.listen(Number(port), '127.0.0.1', () => {
  const child = spawn(path, args, { stdio: 'inherit' });
  child.on('error', () => process.exit(127));
  child.on('exit', (code, signal) => process.exit(code ?? 128 + (signal ? constants.signals[signal] : 0)));
});
