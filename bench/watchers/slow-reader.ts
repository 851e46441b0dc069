import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import WebSocket from 'ws';
import { residentMb } from '../fleet/processes';
import type { HotRun } from './hot-run';

/** How large a notice is, in bytes. */
const noticeBytes = 100_000;
/** Of them so many make a reader too slow, whatever its kernel buffers. */
const notices = 200;
/** How long a server takes at most to cut off what reads nothing, in milliseconds. */
const cutWithinMs = 3_000;

interface Follower {
  socket: WebSocket;
  sequences: number[];
  closed: Promise<{ code: number; reason: string }>;
}

async function follow(url: string, { taskId, attemptId }: HotRun, afterSequence: number): Promise<Follower> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/ws`, { perMessageDeflate: false });
  const sequences: number[] = [];
  socket.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString('utf8')) as { type: string; sequence: number };
    if (message.type === 'agent:event') {
      sequences.push(message.sequence);
    }
  });
  const closed = once(socket, 'close').then(([code, reason]) => ({ code: code as number, reason: String(reason) }));
  await once(socket, 'open');
  socket.send(JSON.stringify({ type: 'subscribe', taskId, attemptId, afterSequence }));
  return { socket, sequences, closed };
}

/** Waits until a follower has an event. @throws Error when it does not come */
async function untilReceived({ sequences }: Follower, sequence: number): Promise<void> {
  const deadline = performance.now() + 60_000;
  while (sequences.at(-1) !== sequence) {
    await delay(20);
    if (performance.now() > deadline) {
      throw new Error(`The reader has ${sequences.at(-1)} of ${sequence} events.`);
    }
  }
}

const isGapless = (sequences: readonly number[], first: number): boolean =>
  sequences.every((sequence, at) => sequence === first + at);

/**
 * Two readers that read nothing for a while. One only follows the run: its events wait in the store for it. The other one is
 * sent notices besides, which wait for no reader: it is dropped, notices that, and resumes.
 */
export async function measureSlowReaders({ url, pid }: { url: string; pid: number }, run: HotRun, events: number) {
  const first = run.last + 1;
  const before = residentMb(pid);
  const patient = await follow(url, run, run.last);
  await untilSubscribed(patient);
  patient.socket.pause();
  await run.append({ perSecond: events, seconds: 1 });
  const whileSlow = residentMb(pid);
  patient.socket.resume();
  await untilReceived(patient, run.last);
  patient.socket.terminate();

  const dropped = await follow(url, run, run.last);
  await untilSubscribed(dropped);
  const from = run.last + 1;
  dropped.socket.pause();
  for (let n = 0; n < notices; n += 1) {
    await run.notify('x'.repeat(noticeBytes));
  }
  await run.append({ perSecond: events, seconds: 1 });
  await delay(cutWithinMs);
  const whileDropped = residentMb(pid);
  dropped.socket.resume();
  const { code, reason } = await dropped.closed;
  const resumed = await follow(url, run, dropped.sequences.at(-1) ?? from - 1);
  await untilReceived(resumed, run.last);
  resumed.socket.terminate();
  const received = [...dropped.sequences, ...resumed.sequences];
  return {
    'follows the run only': {
      'API MB before, while it reads nothing': `${before}, ${whileSlow}`,
      dropped: 'no',
      received: patient.sequences.length,
      gapless: isGapless(patient.sequences, first),
    },
    'and is sent 20 MB of notices': {
      'API MB before, while it reads nothing': `${whileSlow}, ${whileDropped}`,
      dropped: `${code} ${reason}`,
      received: received.length,
      gapless: isGapless(received, from),
    },
  };
}

/** The server has read the subscription: its answer, or anything after it, is there. */
async function untilSubscribed({ socket }: Follower): Promise<void> {
  await new Promise<void>((resolve) => {
    socket.on('message', (data: Buffer) => {
      if ((JSON.parse(data.toString('utf8')) as { type: string }).type === 'subscribed') {
        resolve();
      }
    });
  });
}
