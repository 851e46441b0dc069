import { spawn } from 'node:child_process';
import { deliver } from '../../../providers/agents/local/deliver';

/** More than a pipe holds. */
const long = 'x'.repeat(400_000);

describe('command delivery', () => {
  test('what an agent leaves unread in the middle is unknown; nothing is written behind it', async () => {
    const child = spawn('sleep', ['60'], { stdio: ['pipe', 'ignore', 'ignore'] });
    const ended = new AbortController();
    child.once('exit', () => ended.abort());
    const agent = { stdin: child.stdin, ended: ended.signal };
    // As for every agent: a pipe that breaks is reported by the delivery, not by the stream.
    agent.stdin.on('error', () => undefined);
    const exited = new Promise((resolve) => child.once('exit', resolve));
    try {
      expect(await deliver(agent, 'short')).toEqual({ delivered: true });
      // It cannot be taken back: an agent that reads again receives it after all.
      expect(await deliver(agent, long)).toEqual({ delivered: false, reason: 'outcome-unknown' });
      const before = agent.stdin.writableLength;
      expect(await deliver(agent, 'behind')).toEqual({ delivered: false, reason: 'agent-not-reading' });
      expect(agent.stdin.writableLength).toBe(before);
    } finally {
      child.kill('SIGKILL');
      await exited;
    }
    expect(await deliver(agent, 'late')).toEqual({ delivered: false, reason: 'agent-ended' });
  });
});
