/** A thread that examines skills, one after the other; it is ended when one takes too long (`analyzer.ts`). */
import { parentPort } from 'node:worker_threads';
import { analyzeSkill } from '../../../domain/skills/analyze';
import type { SkillContent } from '../../../domain/skills/content';

parentPort?.on('message', (content: SkillContent) => parentPort?.postMessage(analyzeSkill(content)));
