import type {
  RecordedTaskEnvelope,
  TaskEnvelopeTransport,
  TransportSection,
} from '../../contracts/runs/launch/contract';
import { compact } from '../../platform/json/compact';
import { withDigest } from '../../platform/json/digest';
import { toolsNotice } from '../tool-servers/notice';
import type { ContractInput } from './input';
import { cutSection } from './objective';

/** The texts passed to an agent beside its envelope, each attributed and bounded (specification 2, Launch rule 13). */
export function transportSections({
  taskId,
  profile,
  objective,
  message,
  trust,
  tools,
}: Pick<ContractInput, 'taskId' | 'profile' | 'objective' | 'message' | 'trust' | 'tools'>): TransportSection[] {
  const sections: TransportSection[] = [];
  const add = (section: TransportSection) => {
    if (section.text !== '') {
      sections.push({ ...section, text: cutSection(section.text) });
    }
  };
  if (trust?.notice) {
    add(trust.notice);
  }
  if (profile) {
    const { id, instructions } = profile;
    add({ id: 'profile-instructions', title: 'Instructions', source: `profile:${id}`, text: instructions });
  }
  if (tools) {
    add(toolsNotice(tools));
  }
  if (objective.checkpoint !== null) {
    add({ id: 'checkpoint', title: 'Where an earlier run was', source: `task:${taskId}`, text: objective.checkpoint });
  }
  if (message) {
    add({ id: 'conversation-message', title: 'Message', source: message.actor, text: message.text });
  }
  return sections;
}

/** The document passed to the agent. The same input has the same digest, so that it can be checked when it is used. */
export function renderTransport({
  conversation,
  ...fields
}: {
  attemptId: string;
  taskId: string;
  adapter: string;
  envelope: RecordedTaskEnvelope;
  sections: TransportSection[];
  conversation?: TaskEnvelopeTransport['conversation'];
}): TaskEnvelopeTransport {
  return withDigest({
    schemaVersion: 'provider-task-envelope-transport/v1' as const,
    ...fields,
    ...compact({ conversation }),
  });
}

/** What is stored of a transport beside its envelope. */
export type RecordedTransport = Pick<TaskEnvelopeTransport, 'digest' | 'adapter' | 'sections'>;

/**
 * The document that was recorded, rendered again; `undefined` when it is not the same any more: a contract that was
 * changed since is not dispatched.
 */
export function renderRecorded(
  fields: Pick<TaskEnvelopeTransport, 'attemptId' | 'taskId' | 'envelope' | 'conversation'>,
  { digest, adapter, sections }: RecordedTransport,
): TaskEnvelopeTransport | undefined {
  const rendered = renderTransport({ ...fields, adapter, sections });
  return rendered.digest === digest ? rendered : undefined;
}
