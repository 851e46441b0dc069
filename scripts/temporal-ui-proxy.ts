import { createLog } from '../platform/log/log';
import { endInOrder } from '../platform/processes/parts/lifecycle';
import { configurationErrorExitCode } from '../platform/processes/parts/part';
import { startUiProxy } from '../platform/temporal/embedded/ui-proxy';

/** The proxy before a Temporal UI that has no checks of its own, in a container: `<host>:<port>` of it, and our port. */
async function main(): Promise<void> {
  const [target = '', ownPort = ''] = process.argv.slice(2);
  const [host = '', port] = target.split(':');
  if (!host || !Number(port) || !Number(ownPort)) {
    console.error('usage: temporal-ui-proxy.js <host>:<port> <own port>');
    process.exit(configurationErrorExitCode);
  }
  const log = createLog({ name: 'temporal-ui-proxy', level: 'info' });
  const proxy = await startUiProxy({
    host: '0.0.0.0',
    port: Number(ownPort),
    target: () => ({ host, port: Number(port) }),
  });
  endInOrder({ log, withinMs: 5_000, close: () => proxy.close() });
  log.info({ port: proxy.port, target }, 'listening');
}

void main();
