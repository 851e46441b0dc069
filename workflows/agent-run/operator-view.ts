import { setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import { searchAttributes } from '../../platform/temporal/search-attributes';

/** The most sentences of a story that are shown; a run that is spoken to all day has more. */
const maxShown = 30;

/** What operators see of a run without opening its history: how it stands, and what has happened, in sentences. */
export class OperatorView {
  private state = 'admitting';
  private readonly facts = new Map<string, string>();
  private readonly sentences: string[] = [];

  constructor(taskId: string, attemptId: string) {
    this.facts.set('task', taskId).set('attempt', attemptId);
  }

  /** Something that stays true of the run: its agent, its provider. */
  setFact(name: string, value: string): void {
    this.facts.set(name, value);
  }

  /** Records a new state of the run, as a search attribute too. */
  setState(state: string, sentence: string): void {
    this.state = state;
    upsertSearchAttributes([{ key: searchAttributes.runState, value: state }]);
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
