package sim_test
import ("testing";"podium/supervisor/sim";"time")
func TestZZ(t *testing.T){ var n [4]int; start:=time.Now(); for s:=uint64(1);s<=100;s++{ w:=sim.New(s); w.Run(); a:=w.Counts(); for i:=range a {n[i]+=a[i]} }; t.Log(n, time.Since(start)) }
