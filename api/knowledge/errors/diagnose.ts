import { type ErrorType, type Severity, severity as severities } from '../../../contracts/knowledge/error';

/** The diagnosis of an error before a person has reviewed it. */
export interface Diagnosis {
  errorType: ErrorType;
  severity: Severity;
  rootCause: string;
  preventionSteps: string[];
}

interface Rule {
  /** Searched for in the message; the first rule that fits counts. Each is linear in the length of the text. */
  pattern: RegExp;
  type: ErrorType;
  severity?: Severity;
  cause: string;
  prevention: string;
}

const rules: readonly Rule[] = [
  {
    pattern: /out of memory|heap limit|\benomem\b|oomkilled|\benospc\b|no space left|disk quota/i,
    type: 'resource',
    severity: 'critical',
    cause: 'Memory or disk space ran out.',
    prevention: 'Limit what is loaded at a time, or raise the resource limits.',
  },
  {
    pattern: /corrupt|data loss|segmentation fault|\bsigsegv\b|panic:/i,
    type: 'runtime',
    severity: 'critical',
    cause: 'Data or the process itself was damaged.',
    prevention: 'Back up the remaining data before a retry, and find the cause of the damage.',
  },
  {
    pattern: /\b401\b|\b403\b|unauthori[sz]ed|forbidden|permission denied|\beacces\b|\beperm\b|access denied/i,
    type: 'permission',
    cause: 'Credentials are missing, expired or lack a permission.',
    prevention: 'Check the permissions before the work begins.',
  },
  {
    pattern: /rate limit|\b429\b|quota exceeded|context length|maximum context|overloaded/i,
    type: 'model',
    cause: 'A limit of the model or its provider was reached.',
    prevention: 'Send less at a time, or wait between requests.',
  },
  {
    pattern: /timed? ?out|\betimedout\b|deadline exceeded/i,
    type: 'timeout',
    cause: 'An operation exceeded its timeout.',
    prevention: 'Check whether it hangs or is slow before raising the timeout.',
  },
  {
    pattern: /merge conflict|\bconflict \(|not a git repository|fatal: |non-fast-forward|detached head/i,
    type: 'git',
    cause: 'The repository was not in the state the command requires.',
    prevention: 'Inspect the worktree and rebase before the work begins.',
  },
  {
    pattern: /\beconnrefused\b|\beconnreset\b|\benotfound\b|socket hang up|\b50[0234]\b|fetch failed/i,
    type: 'api',
    cause: 'A service could not be reached or failed.',
    prevention: 'Check that the service is available, and retry with backoff.',
  },
  {
    pattern: /cannot find module|is not defined in (?:the )?environment|missing (?:required )?(?:env|config)/i,
    type: 'configuration',
    cause: 'A required installation or configuration is missing.',
    prevention: 'Check the installation and the configuration at the start.',
  },
  {
    pattern: /tests? failed|assertionerror|expect\(received\)/i,
    type: 'test',
    cause: 'The code does not do what a test expects.',
    prevention: 'Run the affected tests before submitting a change.',
  },
  {
    pattern: /\bts\d{4}\b|syntaxerror|compilation failed|build failed|unexpected token/i,
    type: 'build',
    cause: 'The code does not compile.',
    prevention: 'Compile after every step.',
  },
  {
    pattern: /validation|invalid (?:input|argument|value)|\b400\b|\b422\b|schema/i,
    type: 'validation',
    cause: 'A value violated the contract of its receiver.',
    prevention: 'Validate the value before sending it.',
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
 * The rules' diagnosis of an error: its type unless the caller states it, its severity and its likely cause
 * (`docs/use/knowledge/errors.md` lists them). The cause is guessed from the message, so it fits a type the caller stated
 * only where both agree.
 */
export function diagnose(message: string, stated?: ErrorType): Diagnosis {
  const rule = rules.find(({ pattern }) => pattern.test(message));
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
  if (previousOccurrences < often) {
    return severity;
  }
  return severities.options[severities.options.indexOf(severity) + 1] ?? severity;
}
