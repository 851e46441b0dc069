import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { fetchWithoutRedirects } from '../../../platform/models/provider';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Turns of the event loop in which what is unreachable is collected: some of it only after what it was reached by. */
const turns = 10;

describe('an answer of a model that is given up', () => {
  it('is ended also when garbage was collected since its beginning', async () => {
    let left: () => void;
    const seenToLeave = new Promise<void>((resolve) => (left = resolve));
    const provider = createServer((_request, response) => {
      response.once('close', left);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write('data: {}\n\n');
    });
    provider.listen(0, '127.0.0.1');
    await once(provider, 'listening');
    const { port } = provider.address() as AddressInfo;
    const givenUp = new AbortController();
    const begin = async () => {
      const response = await fetchWithoutRedirects(`http://127.0.0.1:${port}/`, {
        signal: AbortSignal.any([givenUp.signal]),
      });
      return response.body?.getReader();
    };
    try {
      const reader = await begin();
      await reader?.read();
      const rest = reader?.read();
      for (let turn = 0; turn < turns; turn += 1) {
        collectGarbage();
        await new Promise((resolve) => setImmediate(resolve));
      }
      givenUp.abort(new Error('given up'));
      await expect(rest).rejects.toThrow('given up');
      await seenToLeave;
    } finally {
      provider.closeAllConnections();
      provider.close();
    }
  }, 20_000);
});
