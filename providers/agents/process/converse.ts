import { compact } from '../../../platform/json/compact';
import { createRedactor } from '../../../platform/log/redact';
import { LineSplitter } from '../local/line-splitter';
import { pump } from '../local/pump';
import type { Channel, Conversation } from '../local/run-local';
import { commandLine } from './command-line';
import { PermissionRequester } from './permission-requests';

/** The process protocol: the task as the first line of input, commands as later ones, events as lines of output. */
export function converse({ launched, recorder, sink }: Channel): Conversation {
  const { agent, json, secrets, recorded } = launched;
  const requester = new PermissionRequester(agent, {
    decide: sink.decide?.bind(sink),
    redact: createRedactor(secrets),
    answered: agent.detachment?.answered,
  });
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  /** Of a stream that was longer than its spool, the last lines are read as well: the result is there. */
  async function recordDropped(stream: 'stdout' | 'stderr'): Promise<void> {
    const dropped = await agent.detachment?.dropped(stream);
    if (!dropped) {
      return;
    }
    await recorder.streamCut(stream, dropped.afterBytes);
    const splitter = new LineSplitter();
    for (const line of [...splitter.push(dropped.last), ...splitter.end()]) {
      await recorder[stream](line);
    }
  }

  return {
    live: {
      async command(command) {
        // The task is the first line, whatever else is waiting to be sent.
        await begun;
        return agent.deliver(commandLine(command));
      },
    },
    async hold(writersGone) {
      // Files end where they end; the end of a pipe is unknown.
      const over = agent.detachment ? new AbortController().signal : writersGone;
      // A resumed one has its task.
      if (!recorded) {
        agent.send(json);
      }
      begin();
      try {
        const [stdout, stderr] = await Promise.all([
          pump(
            agent.stdout,
            (line) => (requester.receive(line.content) ? recorder.skip('stdout', line) : recorder.stdout(line)),
            { ended: over },
          ),
          pump(agent.stderr, (line) => recorder.stderr(line), { ended: over }),
        ]);
        await recorder.streamEnded('stdout', stdout);
        await recorder.streamEnded('stderr', stderr);
        for (const stream of ['stdout', 'stderr'] as const) {
          await recordDropped(stream);
        }
      } finally {
        requester.end();
      }
      const { result, problem } = recorder.result ?? {};
      return {
        judgedBy: 'exit',
        ...compact({ result, error: problem }),
      };
    },
  };
}
