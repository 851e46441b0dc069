/** The process behind `programRunner`: runs programs on request and ends with the requesting process. */
import { useOperatorUmask } from '../operator-umask';
import { type Program, type ProgramEnd, runProgram } from './program';

export interface ProgramRequest {
  id: number;
  program: Program;
}

export interface ProgramResponse {
  id: number;
  end: ProgramEnd;
}

useOperatorUmask();

process.on('message', ({ id, program }: ProgramRequest) => {
  void runProgram(program).then((end) => process.send?.({ id, end } satisfies ProgramResponse));
});
process.once('disconnect', () => process.exit(0));
// Its parent decides when it ends: a signal to the whole group of a terminal must not come before that.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => undefined);
}
