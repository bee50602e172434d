package arguments
import ("testing";"time";"os")
func TestDbg(t *testing.T){
 f,err:=Compile(Spec{Hours:Hours{"07:00","19:00"}},nil)
 if err!=nil{t.Fatal(err)}
 for _,x:=range []string{os.Getenv("DBG")}{
  r:=f.read(x,f.languageOf(os.Getenv("DBGL")),time.Date(2026,11,23,0,0,0,0,time.UTC))
  for _,d:=range r.dates{t.Logf("date %q %+v gov %q",r.written(d.from,d.to),d,r.governor(d.from,[]string{"auf","vom"},r.Bounds))}
  for _,d:=range r.times{t.Logf("time %q %+v gov %q",r.written(d.from,d.to),d,r.governor(d.from,[]string{"auf","vom"},r.Bounds))}
  for _,d:=range r.findNames([]string{"fuer","von"}){t.Logf("name %+v",d)}
 }
}
