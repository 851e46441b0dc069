import { severity as severities, type ErrorType, type Severity } from '../../contracts/error-analysis';

/** What is made of an error before anybody has looked at it. */
export interface Diagnosis {
  errorType: ErrorType;
  severity: Severity;
  rootCause: string;
  preventionSteps: string[];
}

interface Rule {
  /** Looked for in the message; the first rule that fits counts. Each is linear in the length of the text. */
  says: RegExp;
  type: ErrorType;
  severity?: Severity;
  cause: string;
  prevention: string;
}

const rules: readonly Rule[] = [
  {
    says: /out of memory|heap limit|\benomem\b|oomkilled|\benospc\b|no space left|disk quota/i,
    type: 'resource',
    severity: 'critical',
    cause: 'Memory or disk space ran out.',
    prevention: 'Bound what is held at a time, or give the work more room.',
  },
  {
    says: /corrupt|data loss|segmentation fault|\bsigsegv\b|panic:/i,
    type: 'runtime',
    severity: 'critical',
    cause: 'Data or the process itself was damaged.',
    prevention: 'Keep what is left before anything is repeated, and find what wrote it.',
  },
  {
    says: /\b401\b|\b403\b|unauthori[sz]ed|forbidden|permission denied|\beacces\b|\beperm\b|access denied/i,
    type: 'permission',
    cause: 'Credentials are missing or expired, or may not do this.',
    prevention: 'Check the permissions before the work begins.',
  },
  {
    says: /rate limit|\b429\b|quota exceeded|context length|maximum context|overloaded/i,
    type: 'model',
    cause: 'A limit of the model or its provider was reached.',
    prevention: 'Send less at a time, or wait between requests.',
  },
  {
    says: /timed? ?out|\betimedout\b|deadline exceeded/i,
    type: 'timeout',
    cause: 'Something took longer than it was given.',
    prevention: 'Find out whether it hangs or is slow before the limit is raised.',
  },
  {
    says: /merge conflict|\bconflict \(|not a git repository|fatal: |non-fast-forward|detached head/i,
    type: 'git',
    cause: 'The repository was not in the state that the command needs.',
    prevention: 'Rebase before the work begins, and look at the state of the worktree first.',
  },
  {
    says: /\beconnrefused\b|\beconnreset\b|\benotfound\b|socket hang up|\b50[0234]\b|fetch failed/i,
    type: 'api',
    cause: 'A service could not be reached or failed.',
    prevention: 'Try again with growing pauses, and check that the service is there first.',
  },
  {
    says: /cannot find module|is not defined in (?:the )?environment|missing (?:required )?(?:env|config)/i,
    type: 'configuration',
    cause: 'Something that has to be installed or configured is missing.',
    prevention: 'Check the installation and the configuration at the start.',
  },
  {
    says: /tests? failed|assertionerror|expect\(received\)/i,
    type: 'test',
    cause: 'A test expects something else than the code does.',
    prevention: 'Run the tests that the change concerns before it is handed in.',
  },
  {
    says: /\bts\d{4}\b|syntaxerror|compilation failed|build failed|unexpected token/i,
    type: 'build',
    cause: 'The code does not compile.',
    prevention: 'Compile after every step.',
  },
  {
    says: /validation|invalid (?:input|argument|value)|\b400\b|\b422\b|schema/i,
    type: 'validation',
    cause: 'Something was sent that the receiver does not take.',
    prevention: 'Check the value against its contract before it is sent.',
  },
];

const usual: Record<ErrorType, Severity> = {
  runtime: 'high',
  api: 'medium',
  validation: 'low',
  timeout: 'medium',
  permission: 'high',
  resource: 'high',
  model: 'medium',
  git: 'medium',
  build: 'medium',
  test: 'medium',
  configuration: 'medium',
  unknown: 'low',
};

/** From this often on, an error that comes again is one step more severe. */
const often = 3;

/**
 * What the rules say of an error: its type unless the caller knows it, how bad it is and what it may come from
 * (`docs/registries.md` tells them). The cause is guessed from the message, so it fits a type the caller gave only where
 * both agree.
 */
export function diagnose(message: string, stated?: ErrorType): Diagnosis {
  const rule = rules.find(({ says }) => says.test(message));
  const errorType = stated ?? rule?.type ?? 'unknown';
  const fits = rule?.type === errorType ? rule : undefined;
  return {
    errorType,
    severity: rule?.severity ?? usual[errorType],
    rootCause: fits?.cause ?? '',
    preventionSteps: fits ? [fits.prevention] : [],
  };
}

/** How severe an error is that was there before. */
export function severityOfRepeat(severity: Severity, previousOccurrences: number): Severity {
  if (previousOccurrences < often) return severity;
  return severities.options[severities.options.indexOf(severity) + 1] ?? severity;
}
