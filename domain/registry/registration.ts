import type { ProviderRuntimeManifest } from '../../contracts/runs/launch/contract';
import type {
  AgentHeartbeat,
  AgentRegistration,
  RegisteredAgent,
  SubmittedManifest,
} from '../../contracts/settings/agent-registry';
import type { FieldIssue } from '../../platform/errors/app-error';
import { refusal, RefusedError } from '../refusal';
import { checkManifest } from './manifest';

/** What is stored of a registration; whether it is fresh follows from the clock. */
export interface Registration extends Omit<RegisteredAgent, 'evidence' | 'status' | 'revision'> {
  status: 'online' | 'busy' | 'idle';
  /** The manifest was dropped because provider, model or version changed without a new one. */
  invalidated: boolean;
}

export interface RegistryCaller {
  actor: string;
  /** Whether the caller is this agent, or may write about every agent. */
  mayWriteEvidence: boolean;
  now: string;
}

/**
 * A registration, new or again (specification 2, Routing rule 5). Omitted fields do not change.
 *
 * @throws RefusedError `VALIDATION_ERROR` for a manifest that is not valid or contradicts the registration; `FORBIDDEN` when it
 *   would replace or invalidate evidence that is not the caller's to write
 */
export function register(
  current: Registration | undefined,
  input: AgentRegistration,
  caller: RegistryCaller,
): Registration {
  const manifest = newManifest(input.providerRuntimeManifest);
  if (manifest && input.provider !== undefined && manifest.provider !== input.provider) {
    contradicts('provider', input.provider);
  }
  if (manifest && input.model !== undefined && !manifest.models.includes(input.model)) {
    contradicts('models', input.model);
  }
  const identity = {
    provider: input.provider ?? manifest?.provider ?? current?.provider ?? null,
    model: input.model ?? current?.model ?? null,
    version: input.version ?? current?.version ?? null,
  };
  const changed =
    current !== undefined &&
    (identity.provider !== current.provider ||
      identity.model !== current.model ||
      identity.version !== current.version);
  const invalidated = changed && !manifest && current.providerRuntimeManifest !== null;
  if (manifest || invalidated) {
    assertMayWriteEvidence(input.id, caller);
  }
  return {
    id: input.id,
    name: input.name,
    ...identity,
    capabilities: input.capabilities ?? current?.capabilities ?? [],
    metadata: input.metadata ?? current?.metadata ?? {},
    status: 'online',
    currentTaskId: current?.currentTaskId ?? null,
    currentTaskTitle: current?.currentTaskTitle ?? null,
    registeredAt: current?.registeredAt ?? caller.now,
    registeredBy: current?.registeredBy ?? caller.actor,
    lastHeartbeat: caller.now,
    invalidated: invalidated || (current?.invalidated === true && !manifest),
    providerRuntimeManifest: manifest ?? (invalidated ? null : (current?.providerRuntimeManifest ?? null)),
  };
}

/** A sign of life, with what changed since the last one. @throws RefusedError like `register` */
export function heartbeat(current: Registration, input: AgentHeartbeat, caller: RegistryCaller): Registration {
  const manifest = newManifest(input.providerRuntimeManifest);
  if (manifest) {
    assertMayWriteEvidence(current.id, caller);
    if (current.provider !== null && manifest.provider !== current.provider) {
      contradicts('provider', current.provider);
    }
    if (current.model !== null && !manifest.models.includes(current.model)) {
      contradicts('models', current.model);
    }
  }
  return {
    ...current,
    provider: current.provider ?? manifest?.provider ?? null,
    status: input.status ?? current.status,
    currentTaskId: input.currentTaskId ?? (input.status === 'idle' ? null : current.currentTaskId),
    currentTaskTitle: input.currentTaskTitle ?? (input.status === 'idle' ? null : current.currentTaskTitle),
    metadata: input.metadata ?? current.metadata,
    lastHeartbeat: caller.now,
    ...(manifest ? { providerRuntimeManifest: manifest, invalidated: false } : {}),
  };
}

/** @throws RefusedError `FORBIDDEN` */
export function assertMayWriteEvidence(
  id: string,
  { mayWriteEvidence }: Pick<RegistryCaller, 'mayWriteEvidence'>,
): void {
  if (mayWriteEvidence) {
    return;
  }
  throw new RefusedError(
    refusal('FORBIDDEN', `Only the key named ${id}, or one with agent:write, can register capabilities of ${id}.`, {
      required: ['agent:write'],
      agent: id,
    }),
  );
}

function newManifest(submitted: SubmittedManifest | undefined): ProviderRuntimeManifest | undefined {
  if (!submitted) {
    return undefined;
  }
  const checked = checkManifest(submitted, 'providerRuntimeManifest');
  if ('issues' in checked) {
    throw invalid(checked.issues.slice(0, 50));
  }
  return checked.manifest;
}

function contradicts(field: 'provider' | 'models', registered: string): never {
  const path = `providerRuntimeManifest.${field}`;
  throw invalid([{ path, message: `contradicts the registered ${registered}`, code: 'contradiction' }]);
}

const invalid = (issues: FieldIssue[]): RefusedError =>
  new RefusedError(refusal('VALIDATION_ERROR', 'Validation failed', { issues }));

/** A registration as callers see it at a moment. */
export function presentRegistration(
  { invalidated, ...registration }: Registration,
  revision: number,
  fresh: boolean,
): RegisteredAgent {
  const probed = registration.providerRuntimeManifest !== null;
  return {
    ...registration,
    status: fresh ? registration.status : 'offline',
    evidence: probed ? (fresh ? 'fresh' : 'stale') : invalidated ? 'invalidated' : 'missing',
    revision,
  };
}
