import { describeKills } from './matrix';

describeKills('workflow-runs');
