/** Some sockets that follow a run, and measure how late they receive its events. Every message to it is answered by what they have. */
import WebSocket from 'ws';
import { inParallel } from '../latency';
import { argumentOf, now } from './children';

export interface Watching {
  url: string;
  sockets: number;
  taskId: string;
  attemptId: string;
  afterSequence: number;
}

/** What the sockets have received. */
export interface Watched {
  received: number;
  /** Events that were not the next one of their socket. */
  outOfOrder: number;
  /** How late a sample of them was, in milliseconds. */
  lagMs: number[];
  closed: number;
}

/** How many lags are stored for one report. */
const maxLags = 50_000;

interface EventMessage {
  type: string;
  sequence: number;
  data: { payload?: { at?: number } };
}

async function main(): Promise<void> {
  const { url, sockets, taskId, attemptId, afterSequence } = argumentOf() as Watching;
  let watched: Watched = { received: 0, outOfOrder: 0, lagMs: [], closed: 0 };
  const open = async (): Promise<void> => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { perMessageDeflate: false });
    let sequence = afterSequence;
    socket.on('message', (data: Buffer) => {
      const receivedAt = now();
      const message = JSON.parse(data.toString('utf8')) as EventMessage;
      if (message.type !== 'agent:event') {
        return;
      }
      sequence += 1;
      watched.received += 1;
      if (message.sequence !== sequence) {
        watched.outOfOrder += 1;
        sequence = message.sequence;
      }
      if (message.data.payload?.at !== undefined && watched.lagMs.length < maxLags) {
        watched.lagMs.push(receivedAt - message.data.payload.at);
      }
    });
    socket.once('close', () => (watched.closed += 1));
    await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject));
    socket.send(JSON.stringify({ type: 'subscribe', taskId, attemptId, afterSequence }));
  };
  await inParallel(sockets, 50, open);
  process.on('message', () => {
    process.send?.(watched);
    watched = { ...watched, received: 0, outOfOrder: 0, lagMs: [] };
  });
  process.once('disconnect', () => process.exit(0));
  process.send?.('ready');
}

void main();
