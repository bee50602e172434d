package sim
import ("context";"podium/bus";"strings")
func (w *World) Counts() (n [4]int) { for s:=range w.shards { for m,_:=range w.ledger.Scan(context.Background(), bus.ShardStream(s),1) { switch { case strings.Contains(m.Subject,".session."): n[0]++; case strings.Contains(m.Subject,".in."): n[1]++; case strings.Contains(m.Subject,"shard"): n[2]++; default: n[3]++ } } }; return }
