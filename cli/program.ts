import { Command, CommanderError } from 'commander';
import { version } from '../package.json';
import { addAdmissionCommands } from './commands/admission';
import { addAgentCommands } from './commands/agents';
import { bitmapCommands } from './commands/bitmap';
import { runnerFor } from './commands/command';
import { addCompletionCommand } from './commands/completion';
import { addDoctorCommand } from './commands/doctor';
import { loginCommands } from './commands/login';
import { mcpCommand } from './commands/mcp';
import { addReviewCommands } from './commands/reviews';
import { addRunCommands } from './commands/runs';
import { addServiceCommands } from './commands/service';
import { addTaskCommands } from './commands/tasks';
import { addWorkflowCommands } from './commands/workflows';
import { exitCodes, reportOf } from './failures';
import { styleFor } from './output/style';
import type { Surroundings } from './session';

/** What an error leaves of the execution that it ended. */
interface Execution {
  url: string;
  isJson: boolean;
  exitCode: number;
}

function programFor(surroundings: Surroundings, execution: Execution): Command {
  const { output, errors } = surroundings;
  const program = new Command('runboard')
    .description('A task board whose agent runs cannot be lost.')
    .version(version)
    .option('--url <url>', 'address of the board (RUNBOARD_URL)')
    .option('--json', 'print JSON, and errors as JSON on standard error')
    .exitOverride()
    .configureOutput({
      writeOut: (text) => output.write(text),
      // Where errors are JSON, that of the command line is one too.
      writeErr: (text) => execution.isJson || errors.write(text),
    })
    .showHelpAfterError('(add --help for what there is)');
  const run = runnerFor(surroundings, ({ url, isJson }, exitCode) =>
    Object.assign(execution, { url, isJson, exitCode }),
  );
  const finished = (exitCode: number): void => void Object.assign(execution, { exitCode });
  addServiceCommands(program, finished);
  for (const add of [
    ...[loginCommands(surroundings), addDoctorCommand, addTaskCommands, addRunCommands, addReviewCommands],
    ...[
      addAdmissionCommands,
      addAgentCommands,
      addWorkflowCommands,
      bitmapCommands(surroundings),
      mcpCommand(surroundings),
    ],
  ]) {
    add(program, run);
  }
  addCompletionCommand(program, (text) => output.write(text));
  return program;
}

/** What is wrong with a command line; help in place of a command has no message. */
const usageOf = ({ code, message }: CommanderError): string =>
  code === 'commander.help' ? 'A command is missing: add --help for what there is.' : message.replace(/^error: /, '');

/** Runs one command line, without the names of Node and the program. @returns the exit code */
export async function runCommandLine(args: string[], surroundings: Surroundings): Promise<number> {
  const execution: Execution = { url: '', isJson: args.includes('--json'), exitCode: exitCodes.done };
  try {
    await programFor(surroundings, execution).parseAsync(args, { from: 'user' });
    return execution.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) {
      // Help and version end with 0.
      if (error.exitCode === 0) {
        return exitCodes.done;
      }
      // Otherwise Commander has printed it.
      if (execution.isJson) {
        surroundings.errors.write(`${JSON.stringify({ error: usageOf(error) })}\n`);
      }
      return exitCodes.usage;
    }
    if (surroundings.signal.aborted) {
      return exitCodes.interrupted;
    }
    const { exitCode, ...report } = reportOf(error, execution.url);
    const { errors, environment } = surroundings;
    const style = styleFor(errors, environment);
    const { message, remedy } = report;
    errors.write(
      execution.isJson
        ? `${JSON.stringify({ error: message, code: report.code, remedy })}\n`
        : `${style('red', 'runboard:')} ${message}\n${remedy === undefined ? '' : `${remedy}\n`}`,
    );
    return exitCode;
  }
}
