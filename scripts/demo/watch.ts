import WebSocket from 'ws';
import type { RunEvent } from '../../contracts/runs/event';
import type { FeedNotice } from '../../contracts/system/watch';

export interface RunWatch {
  /** Resolves with the status of the first attempt that ends without being followed by another. */
  finished: Promise<string>;
  close(): void;
}

/** Follows a task over the WebSocket feed, through its retries. */
export function watchTask(apiUrl: string, taskId: string, onEvent: (event: RunEvent) => void): RunWatch {
  const socket = new WebSocket(`${apiUrl.replace('http', 'ws')}/ws`);
  const finished = new Promise<string>((resolve, reject) => {
    socket.on('open', () => socket.send(JSON.stringify({ type: 'subscribe', taskId })));
    socket.on('message', (data: Buffer) => {
      const notice = JSON.parse(data.toString('utf8')) as FeedNotice;
      if (notice.type === 'agent:event') {
        onEvent(notice.data);
      }
      if (notice.type === 'agent:complete' && notice.status !== 'interrupted') {
        resolve(notice.status);
      }
    });
    socket.on('error', reject);
    socket.on('close', (code) => reject(new Error(`The feed closed with code ${code}.`)));
  });
  return { finished, close: () => socket.terminate() };
}
