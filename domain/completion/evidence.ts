import type { CompletionResult, HarnessEvidence } from '../../contracts/runs/completion';
import type { TerminalClaim } from './claim';

type Evidence = NonNullable<CompletionResult['evidence']>[number];
type Artifact = NonNullable<CompletionResult['artifacts']>[number];

export interface CheckedClaims {
  evidence: Evidence[];
  artifacts: Artifact[];
  changedFiles: NonNullable<CompletionResult['changedFiles']>;
  /** Claims of the agent that the harness looked for and did not find. */
  refuted: { id: string; message: string }[];
}

/** The harness's verdict on one claim: `unknown` when it could not check. */
type Verdict = 'verified' | 'refuted' | 'unknown';

/**
 * Compares the claims of an agent with what the harness saw. A claim about an agent that ran elsewhere stays unverified; one
 * about a worktree that the harness inspected is verified or refuted.
 */
export function checkClaims({ claims, harness }: Pick<TerminalClaim, 'claims' | 'harness'>): CheckedClaims {
  const refuted: CheckedClaims['refuted'] = [];
  const evidence = (claims.evidence ?? []).map((claim): Evidence => {
    const verdict = verdictOn(claim.kind, claim.reference, harness);
    const message = `No ${claim.kind} ${claim.reference ?? ''} was found for the evidence ${claim.id}.`;
    if (verdict === 'refuted') {
      refuted.push({ id: claim.id, message });
    }
    return { ...claim, source: 'provider', verified: verdict === 'verified' };
  });
  const artifacts = (claims.artifacts ?? []).map((artifact): Artifact => {
    const verdict = artifactVerdict(artifact, harness);
    const message = `The artifact ${artifact.name} is missing, or differs from what was reported.`;
    if (verdict === 'refuted') {
      refuted.push({ id: artifact.id ?? artifact.name, message });
    }
    return { ...artifact, verified: verdict === 'verified' };
  });
  return {
    evidence: [...evidence, ...harnessEvidence(harness)],
    artifacts,
    changedFiles: (harness.changedFiles ?? []).map((file) => ({ ...file, verified: true })),
    refuted,
  };
}

function verdictOn(kind: Evidence['kind'], reference: string | undefined, harness: HarnessEvidence): Verdict {
  if (reference === undefined || reference === '') {
    return 'unknown';
  }
  switch (kind) {
    case 'commit':
      return commitVerdict(reference, harness);
    case 'file-change':
      return changeVerdict(reference, harness);
    case 'artifact':
      return fileVerdict(reference, undefined, harness);
    default:
      return 'unknown';
  }
}

/** A full name or an unambiguous beginning of at least seven digits. */
function commitVerdict(reference: string, { commits, truncated }: HarnessEvidence): Verdict {
  if (!commits || !/^[0-9a-f]{7,64}$/i.test(reference)) {
    return 'unknown';
  }
  if (commits.some(({ sha }) => sha.startsWith(reference.toLowerCase()))) {
    return 'verified';
  }
  return truncated ? 'unknown' : 'refuted';
}

const withoutDot = (path: string): string => path.replace(/^(?:\.\/)+/, '');

function changeVerdict(reference: string, { changedFiles, truncated }: HarnessEvidence): Verdict {
  if (!changedFiles) {
    return 'unknown';
  }
  const path = withoutDot(reference);
  if (changedFiles.some((file) => file.path === path || file.previousPath === path)) {
    return 'verified';
  }
  return truncated ? 'unknown' : 'refuted';
}

function artifactVerdict({ kind, reference, sha256 }: Omit<Artifact, 'verified'>, harness: HarnessEvidence): Verdict {
  return kind === 'url' || /^[a-z][a-z0-9+.-]*:\/\//i.test(reference)
    ? 'unknown'
    : fileVerdict(reference, sha256, harness);
}

function fileVerdict(reference: string, sha256: string | undefined, { claimedFiles }: HarnessEvidence): Verdict {
  const file = claimedFiles?.find(({ path }) => path === reference);
  if (!file) {
    return 'unknown';
  }
  if (file.bytes === null) {
    return 'refuted';
  }
  if (sha256 !== undefined && file.sha256 !== null && file.sha256 !== sha256.toLowerCase()) {
    return 'refuted';
  }
  return 'verified';
}

/** What the harness adds of its own. */
function harnessEvidence({ ended, exitCode, signal, commits, committed, changedFiles }: HarnessEvidence): Evidence[] {
  const evidence: Evidence[] = [];
  const add = (kind: Evidence['kind'], summary: string) =>
    evidence.push({ id: `harness:${kind}`, kind, summary, source: 'harness', verified: true });
  if (ended === 'exit') {
    add('process-exit', signal ? `ended by ${signal}` : `exit code ${exitCode ?? 'unknown'}`);
  }
  if (ended === 'callback') {
    add('callback', 'reported by the agent itself');
  }
  if (commits && commits.length > 0) {
    add('commit', `${commits.length} commits`);
  }
  if (committed) {
    evidence.push({
      id: 'harness:committed',
      kind: 'commit',
      summary: `${committed.files} files that were uncommitted at the end`,
      reference: committed.sha,
      source: 'harness',
      verified: true,
    });
  }
  if (changedFiles && changedFiles.length > 0) {
    add('file-change', `${changedFiles.length} files`);
  }
  return evidence;
}
