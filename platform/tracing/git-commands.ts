import { SpanStatusCode } from '@opentelemetry/api';
import { inChildSpan, SpanKind } from './spans';

/** The subcommand alone: what follows it may hold secrets, and paths of callers. */
const subcommandOf = (args: readonly string[]): string => args.find((arg) => /^[a-z][a-z-]*$/.test(arg)) ?? '';

/**
 * Runs a command of git in a span, as a part of the one that is open.
 *
 * @param args without options of git itself that have a value of their own
 * @param okCodes exit codes besides 0 that are a result; `any` where each is
 */
export const inGitSpan = <T extends { exitCode: number | null }>(
  { args, okCodes = [] }: { args: readonly string[]; okCodes?: readonly number[] | 'any' | undefined },
  run: () => Promise<T>,
): Promise<T> =>
  inChildSpan(
    {
      name: `git ${subcommandOf(args)}`,
      kind: SpanKind.CLIENT,
      attributes: { 'process.executable.name': 'git' },
    },
    async (span) => {
      const end = await run();
      const { exitCode } = end;
      if (exitCode !== null) {
        span?.setAttribute('process.exit.code', exitCode);
      }
      if (exitCode === null || !(exitCode === 0 || okCodes === 'any' || okCodes.includes(exitCode))) {
        span?.setAttribute('error.type', exitCode === null ? 'killed' : String(exitCode));
        span?.setStatus({ code: SpanStatusCode.ERROR });
      }
      return end;
    },
  );
