import { spawn } from 'node:child_process';

/**
 * Runs a program in the worktree and reports it as a tool.
 *
 * @returns `ok`, and what it printed
 */
export function runCommand(say, name, { command, args }) {
  say('tool', { name, status: 'started', detail: [command, ...args].join(' ') });
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (chunk) => (output += chunk));
    }
    const done = (ok) => {
      say('tool', { name, status: ok ? 'completed' : 'failed', detail: output.slice(-1_000) });
      resolve({ ok, output });
    };
    child.on('error', (error) => {
      output += error.message;
      done(false);
    });
    child.on('close', (code) => done(code === 0));
  });
}
