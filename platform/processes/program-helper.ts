/** The process behind `programRunner`: runs what it is asked to and ends with the process that asked. */
import { useOperatorUmask } from './operator-umask';
import { runProgram, type Program, type ProgramEnd } from './program';

export interface ProgramRequest {
  id: number;
  program: Program;
}

export interface ProgramAnswer {
  id: number;
  end: ProgramEnd;
}

useOperatorUmask();

process.on('message', ({ id, program }: ProgramRequest) => {
  void runProgram(program).then((end) => process.send?.({ id, end } satisfies ProgramAnswer));
});
process.once('disconnect', () => process.exit(0));
// Its parent decides when it ends: a signal to the whole group of a terminal must not come before that.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
