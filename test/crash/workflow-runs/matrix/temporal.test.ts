import { describeKills } from './matrix';

describeKills('temporal');
