/** The floor of HTTP: a bare Koa that reads each request's JSON and answers with the bytes that its parent has given it. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import Koa from 'koa';

/** What every request is answered with. */
export interface BareAnswer {
  status: number;
  type: string;
  body: string;
}

/** Its parent's messages: an answer, or the question for what it has used of the processor. */
export type BareMessage = BareAnswer | 'usage';

let answer: BareAnswer = { status: 404, type: 'application/json', body: '{}' };
const app = new Koa();
app.use(async (ctx) => {
  if (ctx.method !== 'GET') {
    await json(ctx.req);
  }
  ctx.status = answer.status;
  ctx.type = answer.type;
  ctx.body = answer.body;
});

const handle = app.callback();
const server = createServer((request, response) => void handle(request, response));
process.on('message', (message: BareMessage) => {
  if (message !== 'usage') {
    answer = message;
  }
  process.send?.(process.cpuUsage());
});
process.once('disconnect', () => process.exit(0));
server.listen(0, '127.0.0.1', () => process.send?.(`http://127.0.0.1:${(server.address() as AddressInfo).port}`));
