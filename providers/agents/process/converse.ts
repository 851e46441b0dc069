import { createRedactor } from '../../../platform/log/redact';
import type { Channel, Conversation } from '../local/run-local';
import { pump } from '../local/pump';
import { LeaveAsker } from './ask-leave';
import { commandLine } from './command-line';

/** The process protocol: the task as the first line of input, commands as later ones, events as lines of output. */
export function converse({ launched: { agent, json, secrets }, recorder, sink }: Channel): Conversation {
  const asker = new LeaveAsker(agent, sink.decide?.bind(sink), createRedactor(secrets));
  let begin: () => void = () => undefined;
  const begun = new Promise<void>((resolve) => (begin = resolve));
  return {
    live: {
      async command(command) {
        // The task is the first line, whatever else is waiting to be said.
        await begun;
        return agent.deliver(commandLine(command));
      },
    },
    async hold(writersGone) {
      agent.send(json);
      begin();
      try {
        await Promise.all([
          pump(agent.stdout, (line) => (asker.heard(line.content) ? undefined : recorder.stdout(line)), writersGone),
          pump(agent.stderr, (line) => recorder.stderr(line), writersGone),
        ]);
      } finally {
        asker.end();
      }
      const { result, problem } = recorder.result ?? {};
      return {
        judgedBy: 'exit',
        ...(result === undefined ? {} : { result }),
        ...(problem === undefined ? {} : { error: problem }),
      };
    },
  };
}
