import type { SearchAttributeUpdatePair } from '@temporalio/common';
import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { searchAttributes } from '../../platform/temporal/search-attributes';

/** The most sentences of a story that are shown; a run that is spoken to all day has more. */
const maxShown = 30;

/** What operators see of a run without opening its history: how it stands, and what has happened, in sentences. */
export class OperatorView {
  private state = 'admitting';
  private readonly facts = new Map<string, string>();
  private readonly sentences: string[] = [];
  private unset: SearchAttributeUpdatePair[] = [];

  constructor(taskId: string, attemptId: string) {
    this.facts.set('task', taskId).set('attempt', attemptId);
  }

  /** Something that stays true of the run: its agent, its provider. */
  setFact(name: string, value: string): void {
    this.facts.set(name, value);
  }

  /** Search attributes that are set with the next state: each change of them is a write of its own to Temporal's index. */
  setWithState(attributes: readonly SearchAttributeUpdatePair[]): void {
    this.unset = [...attributes];
  }

  /** Sets the attributes that no state came for. */
  setAttributes(): void {
    if (this.unset.length > 0) {
      upsertSearchAttributes(this.unset);
      this.unset = [];
    }
  }

  /** Records a new phase of the run, as a search attribute too. */
  setPhase(phase: string): void {
    this.unset = this.unset.filter(({ key }) => key.name !== searchAttributes.phase.name);
    upsertSearchAttributes([{ key: searchAttributes.phase, value: phase }]);
    this.setFact('phase', phase);
    this.log(`It is in the phase ${phase} now.`);
  }

  /** Records a new state of the run, as a search attribute too. */
  setState(state: string, sentence: string): void {
    this.state = state;
    upsertSearchAttributes([...this.unset, { key: searchAttributes.runState, value: state }]);
    this.unset = [];
    this.log(sentence);
  }

  log(sentence: string): void {
    this.sentences.push(sentence);
    if (this.sentences.length > maxShown) {
      this.sentences.shift();
    }
    setCurrentDetails(this.text());
  }

  private text(): string {
    const facts = [...this.facts].map(([name, value]) => `${name} \`${value}\``).join(' · ');
    return [`**${this.state}** · ${facts}`, '', ...this.sentences.map((sentence) => `- ${sentence}`)].join('\n');
  }
}
